"""The API against its own description: every route, with valid and invalid requests (schemathesis)."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from interlock.domain.messages.commands.discussion_commands import StartDiscussion
from interlock.domain.messages.commands.external_ask_commands import AskPerson
from interlock.domain.messages.commands.track_commands import AddTrack
from tests.api.serving import Served, asking, served, ticket

STREAM = "/api/events"  # has no end; tests/api/test_events.py reads it
BLOCKS = "/api/ask"  # waits for a person


@pytest.fixture(scope="module")
def bench() -> Iterator[Served]:
    with served(test_policy=True) as bench:
        asking(bench, "a", "b", "c")
        bench.submit(AddTrack("other", "Other", "", (ticket("x"), ticket("y", "x"))))
        bench.submit(AskPerson("Bash", '{"a": 1}', "5a", "program:x"), "system")
        bench.submit(StartDiscussion("talk"))
        yield bench


def operations(bench: Served) -> list[Any]:
    return [result.ok() for result in _schema(bench).get_all_operations()]


def _schema(bench: Served) -> Any:
    url = f"http://127.0.0.1:{bench.port}/openapi.json"
    return schemathesis.openapi.from_url(url, headers={"Authorization": f"Bearer {bench.tokens.drive}"})


def check_one(bench: Served, case: Any) -> None:
    auth = {"Authorization": f"Bearer {bench.tokens.drive}"}
    if case.operation.path == BLOCKS:
        with pytest.raises(requests.exceptions.ReadTimeout):  # a valid ask waits
            case.call_and_validate(headers=auth, timeout=0.3, excluded_checks=[positive_data_acceptance])
            raise requests.exceptions.ReadTimeout  # an invalid one is refused as described
        return
    # A request with a valid shape can still be refused (an unknown track). The token is always set here, so a request
    # without one is valid too.
    case.call_and_validate(headers=auth, excluded_checks=[positive_data_acceptance, negative_data_rejection])


def conforms(bench: Served, examples: int) -> None:
    """No server error, and every response as described: status, headers, type and shape."""
    for operation in operations(bench):
        if operation.path == STREAM:
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if operation.path == "/status" and mode is GenerationMode.NEGATIVE:
                continue  # it has no parameters
            cases = operation.as_strategy(generation_mode=mode)
            limits = settings(
                max_examples=examples,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType]
            )
            limits(given(case=cases)(lambda case: check_one(bench, case)))()


def test_every_answer_is_as_described(bench: Served) -> None:
    conforms(bench, 12)


@pytest.mark.soak
def test_every_answer_is_as_described_at_length(bench: Served) -> None:
    conforms(bench, 150)


def test_without_a_token_every_route_is_closed(bench: Served) -> None:
    paths = [(operation.method.upper(), operation.path) for operation in operations(bench)]
    assert len(paths) > 30
    for method, path in paths:
        concrete = path.replace("{", "").replace("}", "")
        body = b"{}" if method in ("POST", "PATCH") else None
        wanted = 200 if (method, path) == ("GET", "/status") else 401
        assert bench.raw(method, concrete, body, authorization=None)[0] == wanted, path


def test_every_route_says_what_it_does(bench: Served) -> None:
    described = bench.raw("GET", "/openapi.json")[2]
    assert described["info"]["title"] == "Interlock"
    for path, item in described["paths"].items():
        for method, operation in item.items():
            assert operation["summary"], (method, path)
            assert operation["description"], (method, path)
            assert {"401", "403", "421"} <= set(operation["responses"]), (method, path)


def test_unknown_keys_are_refused_and_the_description_says_so(bench: Served) -> None:
    described = bench.raw("GET", "/openapi.json")[2]["components"]["schemas"]
    closed = [name for name, schema in described.items() if schema.get("additionalProperties") is False]
    assert len(closed) > 15
    assert bench.raw("POST", "/api/epics", b'{"text": "x", "more": 1}')[0] == 422


def test_another_method_is_refused_with_those_that_are_allowed(bench: Served) -> None:
    status, headers, reply = bench.raw("DELETE", "/api/tracks", b"{}")
    assert (status, set(reply)) == (405, {"error", "kind"})
    assert set(headers["allow"].split(", ")) >= {"GET", "POST"}
    assert bench.raw("OPTIONS", "/api/tracks")[0] == 405


def test_an_unknown_path_is_not_found_in_json(bench: Served) -> None:
    status, _, reply = bench.raw("GET", "/api/nothing")
    assert (status, set(reply)) == (404, {"error", "kind"})
    assert reply["error"].startswith("no route '/api/nothing'; the nearest: /api/")
    for path in ("/  ", "/q", "/schema/x"):
        status, _, far = bench.raw("GET", path.replace(" ", "%20"))
        hint = "'GET /openapi.json' lists all routes"
        assert (status, far) == (404, {"error": f"no route {path!r}; {hint}", "kind": "NotFound"})
    assert bench.raw("GET", "/api/track")[2]["error"].startswith("no route '/api/track'; the nearest: /api/tracks")
    assert "/api/gui/state" in bench.raw("GET", "/api/gui/stat")[2]["error"]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/api/epics", "epics"),
        ("/api/workers", "workers"),
        ("/api/tracks", "tracks"),
        ("/api/discussions", "discussions"),
        ("/api/approvals", "approvals"),
    ],
)
def test_every_list_is_paged_with_the_same_parameters_and_the_same_maximum(bench: Served, path: str, key: str) -> None:
    status, _, reply = bench.raw("GET", f"{path}?offset=0&limit=1")
    assert (status, {key, "total", "next_offset"} <= set(reply)) == (200, True)
    assert bench.raw("GET", f"{path}?limit=1001")[0] == 422
