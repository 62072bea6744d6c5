"""The table that a simulation writes."""

import re
from pathlib import Path

import pytest

from tests.simulation.verification_logger import VerificationLogger


def test_the_table_has_four_columns_of_fixed_width_and_says_how_it_ended(tmp_path: Path) -> None:
    log = VerificationLogger("the eight stages", "test_eight_stages", base=tmp_path)
    log.log_state("tracks", 0, 2)
    log.log_state("mma_status", "idle", "running", "moved on")
    log.log_state("active_track", None, "mock-track-1")
    file = log.finalize("all of it", "PASS", "as it should be")
    assert re.fullmatch(r"logs/test/\d{8}_\d{6}/test_eight_stages\.txt", str(file.relative_to(tmp_path)))
    lines = file.read_text().splitlines()
    assert lines[0:2] == ["Test: the eight stages", "Script: test_eight_stages"]
    assert lines[3:] == [
        "Description: all of it",
        "",
        "Field        | Before | After        | Delta",
        "-------------+--------+--------------+---------",
        "tracks       | 0      | 2            | 2",
        "mma_status   | idle   | running      | moved on",
        "active_track | None   | mock-track-1 |",
        "",
        "Status: PASS",
        "Result: as it should be",
    ]


def test_each_line_is_also_printed_with_its_tag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = VerificationLogger("a test", "a_script", base=tmp_path)
    log.log_state("pid", None, 7)
    log.log_state("seconds", 1.5, 4.0)
    file = log.finalize("d", "FAIL", "it did not come")
    assert capsys.readouterr().out.splitlines() == [
        "[STATE] a test pid: None -> 7",
        "[STATE] a test seconds: 1.5 -> 4.0 (2.5)",
        "[FAIL] a test: it did not come",
        f"[LOG] {file}",
    ]


def test_nothing_that_is_logged_can_break_the_table(tmp_path: Path) -> None:
    log = VerificationLogger("a test", "a_script", base=tmp_path)
    log.log_state("text", "a | b\nc", "x" * 10_000)
    log.log_state("flag", False, True)
    rows = log.finalize("d", "PASS", "r").read_text().splitlines()[7:9]
    assert [row.count("|") for row in rows] == [3, 3]
    assert (rows[0].startswith("text  | a ¦ b c"), max(map(len, rows)) < 80, rows[1].endswith("|")) == (True,) * 3


def test_without_a_base_it_lies_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = VerificationLogger("t", "s").finalize("d", "PASS", "r")
    assert file.is_relative_to(tmp_path / "logs" / "test")
