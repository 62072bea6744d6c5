"""A power cut: a project that was made counts, and one that was not is no obstacle."""

from pathlib import Path

from interlock.identity.making import make_folder
from interlock.identity.standing import standing_of
from tests.faults.cuts import cuts


def test_a_folder_that_was_made_counts_after_a_power_cut(tmp_path: Path) -> None:
    root = tmp_path / "disk"
    project, state = root / "project", root / "state"
    project.mkdir(parents=True)
    (state / "projects").mkdir(parents=True)
    made = 0
    for cut in cuts(root, "tests.identity.making_process", str(project), str(state), survivals=["strict"]):
        found = standing_of(project, state)
        if cut.said:
            assert (found.kind, found.id) == ("own", cut.said[0]), cut
            made += 1
        elif found.kind == "none":
            make_folder(project, state, "2026-01-01T00:00:00Z")
        else:
            assert found.kind == "own", cut
    assert made == 1
