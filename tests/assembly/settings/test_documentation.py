"""docs/settings.md lists exactly the existing settings."""

from pathlib import Path

from interlock.assembly.settings.load import documented_keys
from interlock.assembly.settings.rights import RIGHTS

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_the_settings_page_has_one_true_row_for_every_key() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{key.name}` | {key.allowed} | `{key.default}` | {key.needs_trust} | {key.description} |"
        for key in documented_keys()
    ]


def test_every_key_says_what_it_may_do_in_a_project_file() -> None:
    assert list(RIGHTS) == [key.name for key in documented_keys()]
