"""A power cut at any moment: every confirmed row and text is there, and the journal opens."""

from pathlib import Path

import pytest

from interlock.journal.verify import verify
from tests.faults.cuts import cuts
from tests.faults.power_cut import Survival
from tests.journal.rows import opened, records


@pytest.mark.parametrize("survival", ["strict", "ordered", "names", "all"])
def test_a_power_cut_loses_no_confirmed_row_and_no_confirmed_text(tmp_path: Path, survival: Survival) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    seen: set[tuple[str, ...]] = set()
    for cut in cuts(root, "tests.journal.cut_story", str(root), survivals=[survival]):
        rows = max((int(said.split()[1]) for said in cut.said if said.startswith("rows")), default=0)
        blobs = [said.split()[1] for said in cut.said if said.startswith("blob")]
        with opened(root / ".interlock") as journal:
            stored = list(journal.read())
            assert stored == records(1, len(stored)), cut
            assert len(stored) >= rows, cut
            for name in blobs:
                assert journal.get_blob(name), cut
            checkpoint = journal.load_checkpoint()
            assert checkpoint is None or checkpoint.body in (b"state" * 1_000, b"later" * 1_000), cut
            journal.append(records(len(stored) + 1, len(stored) + 1))
        assert verify(root / ".interlock").ok, cut
        seen.add(cut.said)
    assert len(seen) == 6, "there was a cut after everything that was confirmed"


def test_the_disk_forgets_what_was_not_synced(tmp_path: Path) -> None:
    """The model itself: a file that is only written is empty or missing."""
    root = tmp_path / "disk"
    found: dict[str, list[bytes | None]] = {}
    survivals: tuple[Survival, ...] = ("strict", "ordered", "names", "all")
    for survival in survivals:
        (root / "kept").mkdir(parents=True)
        for cut in cuts(root, "tests.faults.forgetful", str(root / "kept"), survivals=[survival], only_said=True):
            files = [cut.folder / "kept" / name for name in ("written", "synced", "named")]
            found[survival] = [file.read_bytes() if file.exists() else None for file in files]
    assert found == {
        "strict": [None, None, b"named"],
        "ordered": [b"", b"synced", b"named"],
        "names": [b"", b"synced", b"named"],
        "all": [b"written", b"synced", b"named"],
    }
