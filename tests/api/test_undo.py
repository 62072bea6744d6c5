"""`/api/undo`: what can be undone is shown to everybody; undoing needs the approve token and the shown change."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.serving import Served, served


@pytest.fixture
def bench() -> Iterator[Served]:
    with served() as bench:
        yield bench


def post(bench: Served, token: str, **data: Any) -> tuple[int, Any]:
    body = json.dumps(data).encode()
    status, _, reply = bench.raw("POST", "/api/undo", body, {"Authorization": f"Bearer {token}"})
    return status, reply


def test_the_changes_and_the_next_steps_are_shown(bench: Served) -> None:
    _, _, shown = bench.raw("GET", "/api/undo")
    assert [(row["id"], row["state"]) for row in shown["changes"]] == [("U-2", "done"), ("U-1", "done")]
    assert (shown["undo"]["id"], shown["undo"]["files"], shown["redo"]) == ("U-2", ["change a.txt"], None)


def test_an_undo_needs_the_approve_token_and_can_be_redone(bench: Served) -> None:
    status, reply = post(bench, bench.tokens.drive, id="U-2")
    assert (status, "approve token" in str(reply)) == (403, True)
    assert post(bench, bench.tokens.approve, id="U-2")[1]["redo"] is False
    _, _, shown = bench.raw("GET", "/api/undo")
    assert (shown["undo"]["id"], shown["redo"]["id"]) == ("U-1", "U-2")
    assert post(bench, bench.tokens.approve, id="U-2", redo=True)[0] == 200


def test_another_change_than_the_shown_one_is_refused(bench: Served) -> None:
    status, reply = post(bench, bench.tokens.approve, id="U-1")
    assert (status, "U-1 is not the next to undo" in str(reply)) == (409, True)
    assert post(bench, bench.tokens.approve, id="U-2", redo=True)[0] == 409
