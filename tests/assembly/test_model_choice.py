"""A provider by its name: mistakes are reported before anything starts."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from interlock.assembly.model_choice import make_model
from interlock.assembly.project import Project
from interlock.assembly.settings.settings import Settings
from interlock.errors import Misconfigured
from interlock.ports.model import Message, ModelRequest
from interlock.providers.names import PROVIDERS
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox

RULES = [{"match": "", "model": "strong", "reply": "I am strong."}, {"match": "", "reply": "I am plain."}]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "rules.json").write_text(json.dumps(RULES))
    return Project(tmp_path, Settings(), tmp_path / "state")


@pytest.mark.parametrize(
    ("provider", "more", "sentence"),
    [
        ("gpt", {}, "there is no provider 'gpt'; known are 'anthropic', .*'gemini_cli' and 'scripted'"),
        ("anthropic", {}, "there is no key for 'anthropic': set ANTHROPIC_API_KEY"),
        ("scripted", {}, "needs a script"),
        ("scripted", {"script": "no-such-file"}, "cannot be read"),
        ("scripted", {"script": "x", "command_line": "gemini"}, "a command line is only for the provider 'gemini_cli'"),
        ("gemini_cli", {"script": "x"}, "a script is only for the provider 'scripted'"),
        ("gemini_cli", {"command_line": "'half"}, "cannot be split"),
    ],
)
def test_a_choice_that_cannot_work_is_refused_at_once(
    project: Project, provider: str, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Misconfigured, match=sentence):
        make_model(project, provider, **more)


@pytest.mark.parametrize(("model", "answer"), [("strong", "I am strong."), (None, "I am plain.")])
def test_the_model_is_asked_for_where_a_request_names_none(project: Project, model: str | None, answer: str) -> None:
    scripted = make_model(project, "scripted", model, script=project.root / "rules.json")(BubblewrapSandbox(), print)
    request = ModelRequest("Tier 3", None, None, "", (Message("user", "Who?"),), ())
    reply = asyncio.run(scripted.complete(request, print))
    assert (scripted.name, scripted.quote(request), reply.message.text) == ("scripted", 0, answer)


def test_every_known_provider_can_be_made(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "GEMINI", "OPENAI", "DEEPSEEK", "OPENROUTER"):
        monkeypatch.setenv(f"{name}_API_KEY", "a-key-for-tests")
    scripts = {"scripted": project.root / "rules.json"}
    makers = [make_model(project, name, script=scripts.get(name)) for name in PROVIDERS]
    assert tuple(maker(BubblewrapSandbox(), print).name for maker in makers) == PROVIDERS
