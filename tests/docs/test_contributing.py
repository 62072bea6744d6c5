"""The files that CONTRIBUTING.md names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = (
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Ten common changes")[2].partition("\n## ")[0]
)


def test_every_file_and_folder_of_the_ten_changes_exists() -> None:
    paths = re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", TABLE)
    assert len(paths) > 50
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_name_of_the_ten_changes_is_in_the_file_before_it() -> None:
    named = re.findall(r"`(src/[\w./-]+\.py)` \(((?:`[\w.]+`(?:, )?)+)", TABLE)
    assert len(named) > 8
    missing: list[str] = []
    for path, names in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        missing += [
            f"{path}: {name}" for name in re.findall(r"`([\w.]+)`", names) if name.rpartition(".")[2] not in source
        ]
    assert missing == []
