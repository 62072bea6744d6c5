"""`interlock test …` with a window: output and exit codes."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.project import CommandResult, Project
from tests.uitest.program import DrivenWindow, driven


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DrivenWindow]:
    with driven(Project(tmp_path_factory.mktemp("cli"))) as window:
        yield window


def run(window: DrivenWindow, *words: str, stdin: str | None = None) -> CommandResult:
    return window.project.run("test", *words, stdin=stdin)


def test_clicks_texts_and_looks_say_their_id_and_their_status(window: DrivenWindow) -> None:
    result = run(window, "click", "window:Provider")
    assert (result.code, result.err) == (0, "")
    assert re.match(r"Test ID: grpc_click_\d{8}\nStatus: PASSED\n", result.out)
    assert run(window, "click", "window:Dashboard", "--type", "left").code == 0
    assert run(window, "type", "input:Goal", "Better", "--clear").code == 0
    assert run(window, "type", "mma_epic_input", "-", stdin=" still").code == 0
    assert run(window, "assert", "value_equals:input:Goal:Better still").code == 0
    assert run(window, "assert", "value_equals:Better still", "--widget-key", "mma_epic_input").code == 0
    assert run(window, "wait", "window_visible:Inbox").code == 0


def test_exit_codes_tell_failed_from_late_from_wrong(window: DrivenWindow) -> None:
    missing = run(window, "click", "button:Plan at")
    assert (missing.code, "Status: FAILED" in missing.out, "button:Plan it" in missing.out) == (1, True, True)
    assert run(window, "assert", "exists:nobody", "--message", "where is it").code == 1
    late = run(window, "wait", "exists:nobody", "--timeout-ms", "50")
    assert (late.code, "Status: TIMEOUT" in late.out) == (3, True)
    wrong = run(window, "assert", "nonsense:x")
    assert (wrong.code, "there are window_visible" in wrong.err) == (2, True)


@pytest.mark.parametrize("form", [("--json",), ("--output", "json"), ("--format", "json")])
def test_json_is_one_object_however_it_is_asked_for(window: DrivenWindow, form: tuple[str, ...]) -> None:
    clicked = run(window, "click", "window:Inbox", *form).json
    assert (clicked["success"], clicked["status"], clicked["resolved_widget_key"]) == (True, "PASSED", "window.inbox")
    status = run(window, "status", "--test-id", clicked["test_id"], *form).json
    assert status["status"] == "PASSED"
    listed = run(window, "list", *form).json
    assert clicked["test_id"] in [each["test_id"] for each in listed["tests"]]
    results = run(window, "results", "--test-id", clicked["test_id"], *form).json
    assert results["test_name"] == "Click: window:Inbox"


def test_widgets_are_listed(window: DrivenWindow) -> None:
    result = run(window, "discover", "--window", "Dashboard")
    assert (result.code, "mma_epic_input" in result.out) == (0, True)
    discovered = run(window, "discover", "--json").json
    titles = {each["title"]: each["visible"] for each in discovered["windows"]}
    assert (titles["Inbox"], titles["Timeline"]) == (True, False)
    assert isinstance(discovered["generated_at_ms"], int)


def test_a_screenshot_without_pixels_says_what_to_do(window: DrivenWindow) -> None:
    result = run(window, "screenshot")
    assert (result.code, "--backend egl" in result.out) == (1, True)
    assert run(window, "screenshot", "../x.png").code == 2


def test_sentences_are_one_test(window: DrivenWindow) -> None:
    outcome = run(window, "run", "--prompt", "Open Inbox and verify it loads", "--json").json
    assert (outcome["success"], outcome["test_id"].startswith("e2e_")) == (True, True)
    results = run(window, "results", "--test-id", outcome["test_id"], "--format", "json").json
    assert (results["category"], len(results["steps"])) == ("e2e", 2)
    failed = run(window, "run", "--prompt", "click Nothing")
    assert (failed.code, "step 1 of 1" in failed.out) == (1, True)
    assert run(window, "run", "--prompt", "be clever").code == 2


def test_a_test_under_way_is_followed_to_its_end(window: DrivenWindow) -> None:
    run(window, "type", "input:Goal", "not yet", "--clear")
    waiting = subprocess.Popen(
        window.project.argv("test", "wait", "value_equals:mma_epic_input:now", "--timeout-ms", "60000"),
        cwd=window.project.root,
        env=window.project.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    test_id = ""
    while not test_id:
        running = window.client.list(status=2).messages(1)
        test_id = next((each.text(1) for each in running), "")
    still = run(window, "status", "--test-id", test_id)
    assert (still.code, "Status: RUNNING" in still.out) == (0, True)
    following = subprocess.Popen(
        window.project.argv("test", "status", "--test-id", test_id, "--follow"),
        cwd=window.project.root,
        env=window.project.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert following.stderr is not None
    assert following.stderr.readline() == f"{test_id}: RUNNING\n"
    run(window, "type", "input:Goal", "now", "--clear")
    out, err = following.communicate(timeout=60)
    assert (following.returncode, "Status: PASSED" in out, err) == (0, True, f"{test_id}: PASSED\n")
    assert (waiting.communicate(timeout=60)[0].splitlines()[1], waiting.returncode) == ("Status: PASSED", 0)


def test_an_unknown_test_is_4_with_and_without_following(window: DrivenWindow) -> None:
    assert run(window, "status", "--test-id", "grpc_click_00000000").code == 4
    assert run(window, "status", "--test-id", "grpc_click_00000000", "--follow").code == 4
    assert run(window, "results", "--test-id", "grpc_click_00000000").code == 4


@pytest.mark.parametrize("words", [("click", "btn_reset"), ("discover",), ("run", "--prompt", "open Inbox")])
def test_without_a_harness_it_is_5_and_says_how_to_start_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    result = Project(tmp_path).run("test", *words)
    assert (result.code, "--enable-test-harness" in result.err) == (5, True)


def test_a_file_that_a_killed_window_left_is_not_believed(tmp_path: Path) -> None:
    with driven(Project(tmp_path)) as window:
        test_id = run(window, "click", "window:Inbox", "--json").json["test_id"]
        window.process.send_signal(signal.SIGKILL)
        window.process.wait()
        assert window.file.exists()
        assert json.loads(window.file.read_text())["token"]
        assert run(window, "click", "window:Inbox").code == 5
        done = run(window, "status", "--test-id", test_id)  # the history needs no window
        assert (done.code, "Status: PASSED" in done.out) == (0, True)
