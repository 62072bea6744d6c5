"""docs/settings.md lists exactly the existing settings."""

from pathlib import Path

from interlock.assembly.settings.load import documented_keys

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_the_settings_page_has_one_true_row_for_every_key() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{key.name}` | {key.allowed} | `{key.default}` | {key.description} |" for key in documented_keys()
    ]
