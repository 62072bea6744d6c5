"""docs/settings.md lists exactly the existing settings."""

import re
from pathlib import Path
from typing import get_args

from interlock.assembly.settings.load import documented_keys, keys_of
from interlock.assembly.settings.rights import RIGHTS
from interlock.assembly.settings.service_settings import ServiceSettings
from interlock.assembly.settings.settings import ProviderName, Settings, ToolName, WebSearchSettings
from interlock.assembly.tools.web import web_of
from interlock.codeviews.python.structure import PythonStructure
from interlock.domain.checks.closed_names import ClosedNames
from interlock.providers.names import PROVIDERS
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from interlock.tools.registry import WorkerTools

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_the_settings_page_has_one_true_row_for_every_key() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{key.name}` | {key.allowed} | `{key.default}` | {key.needs_trust} | {key.description} |"
        for key in documented_keys()
    ]


def test_the_services_page_has_one_true_row_for_every_key_of_a_service() -> None:
    page = PAGE.with_name("services.md").read_text()
    assert [line for line in page.splitlines() if re.match(r"\| `[a-z_]+` \|", line)] == [
        f"| `{key.name}` | {key.allowed} | {f'`{key.default}`' if key.default else 'needed'} | {key.description} |"
        for key in keys_of(ServiceSettings)
    ]


def test_every_key_says_what_it_may_do_in_a_project_file() -> None:
    assert list(RIGHTS) == [key.name for key in documented_keys()]


def test_the_settings_accept_exactly_the_known_providers() -> None:
    assert get_args(ProviderName) == PROVIDERS


def test_the_settings_accept_exactly_the_names_of_tools() -> None:
    web = web_of(Settings(web_search=WebSearchSettings("custom", "https://search.example.org/?q={query}")))
    tools = WorkerTools(UnconfinedSandbox(), {}, PythonStructure(), ClosedNames(), web=web)
    assert get_args(ToolName) == tuple(spec.name for spec in tools.offered(changing=True))


def test_every_default_is_a_value() -> None:
    assert [key.name for key in documented_keys() if "NODEFAULT" in key.default] == []
