"""Completion of ids, providers and models, in real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.project import Project, shell
from tests.cli.serving import script, serving

needs = {name: pytest.mark.skipif(shutil.which(name) is None, reason=f"no {name}") for name in ("zsh", "fish")}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a track, a pending approval, a discussion and a checkpoint; `interlock` is on its PATH."""
    made = Project(tmp_path)
    assert made.run("run", "--tickets", made.tickets("alpha.json", [shell("T-1", "rm a.txt")])).code == 4
    assert made.run("chat", "Hello", *script(made, {"match": "", "reply": "Hi"})).code == 0
    assert made.run("checkpoint", "create").code == 0
    program = made.home / "bin" / "interlock"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m interlock.cli.main "$@"\n')
    program.chmod(0o755)
    made.env["PATH"] = f"{program.parent}:{made.env['PATH']}"
    return made


def offered(project: Project, *words: str) -> list[str]:
    """What bash offers for the last word."""
    text = (
        'eval "$(interlock completion bash)"\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _interlock\n'
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", text, "bash", "interlock", *words],
        cwd=project.root,
        env=project.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [word for word in done.stdout.split() if not word.startswith("-")]


CASES = {
    ("tracks", "land", ""): ["alpha"],
    ("resume", "al"): ["alpha"],
    ("tickets", "show", ""): ["alpha/T-1"],
    ("approvals", "show", ""): ["A-1"],
    ("checkpoint", "rollback", ""): ["C-1"],
    ("discussions", "show", ""): ["D-1"],
    ("tell", ""): ["alpha/T-1", "D-1"],
    ("run", "--provider", "ol"): ["ollama"],
    ("chat", "--model", "claude-haiku-4"): ["claude-haiku-4-5"],
    ("tracks", "import", "plan.json", "--into", ""): ["alpha"],
    ("jour",): ["journal"],
}


def test_bash_offers_the_ids_of_the_project(project: Project) -> None:
    assert {words: offered(project, *words) for words in CASES} == CASES


def test_ids_are_offered_while_another_process_holds_the_project(project: Project) -> None:
    with serving(project):
        assert offered(project, "approvals", "show", "") == ["A-1"]


def test_an_answered_approval_is_not_offered_any_more(project: Project) -> None:
    assert project.run("approvals", "answer", "A-1", "reject").code == 0
    assert offered(project, "approvals", "show", "") == []


@needs["zsh"]
def test_zsh_completes_the_only_checkpoint_in_its_line_editor(project: Project) -> None:
    text = (
        "zmodload zsh/zpty; zpty z zsh -f -i\n"
        """zpty -w z 'PS1=; eval "$(interlock completion zsh)"; echo "REA""DY"'\n"""
        "zpty -r -m z seen '*READY*'\n"
        "zpty -n -w z $'interlock checkpoint rollback C\\t'\n"
        "zpty -r -m z seen '*C-1*' && print -r -- $seen; zpty -d z"
    )
    done = subprocess.run(
        ["zsh", "-fc", text], cwd=project.root, env=project.env, capture_output=True, text=True, check=True, timeout=60
    )
    assert "rollback C-1" in done.stdout, done


@needs["fish"]
def test_fish_offers_the_ids_of_the_project(project: Project) -> None:
    text = (
        "interlock completion fish | source; complete -C 'interlock tracks land ';"
        " complete -C 'interlock run --provider ol'"
    )
    done = subprocess.run(
        ["fish", "-Nc", text], cwd=project.root, env=project.env, capture_output=True, text=True, check=True
    )
    assert {"alpha", "ollama"} <= {line.split("\t")[0] for line in done.stdout.splitlines()}, done


@pytest.mark.parametrize("kinds", [["tracks"], ["nonsense"], [], ["checkpoints"], ["approvals", "tickets"]])
def test_in_a_folder_without_a_project_it_is_silent(tmp_path: Path, kinds: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "interlock.cli.main", "--complete", *kinds],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_a_broken_journal_or_a_foreign_folder_offers_nothing(project: Project) -> None:
    (project.root / ".interlock" / "journal.db").write_bytes(b"no database at all, but long enough to be read " * 20)
    assert offered(project, "tracks", "land", "") == []
    shutil.rmtree(Path(project.env["XDG_STATE_HOME"]) / "interlock" / "projects")
    assert offered(project, "checkpoint", "show", "") == []


def test_completing_imports_nothing_heavy(project: Project) -> None:
    text = (
        "import sys; from interlock.cli.main import main; main(['--complete', 'tracks', 'checkpoints', 'models']);"
        "heavy = ('msgspec', 'asyncio', 'argparse', 'httpx2', 'interlock.domain');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=project.root, env=project.env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
