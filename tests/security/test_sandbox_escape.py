"""No attempt to leave a sandbox succeeds: as root and as an ordinary user, with bubblewrap and with Landlock.

tests/security/escape holds the table of attempts. One job makes them all.
"""

import asyncio
import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.sandbox.levels import landlock
from tests.sandbox.sandbox_levels import CONFINED
from tests.security.escape.main import MODULES
from tests.security.escape.scene import Scene, siege
from tests.security.escape.table import ATTEMPTS
from tests.security.ordinary_user import as_ordinary_user


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that another user can reach; short, because the path of a socket has at most 108 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="il-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=CONFINED)
def level(request: pytest.FixtureRequest) -> str:
    if request.param == "landlock" and (reason := landlock.missing()):
        pytest.skip(reason)
    return request.param


def besiege(user: str, place: Path, level: str, *, whole: bool = False) -> dict[str, Any]:
    if (user == "root") == (os.geteuid() == 0):
        return asyncio.run(siege(place / "scene", level, whole=whole))
    if user == "root":
        pytest.skip("only root can try it as root")
    words = (str(place), level, *(["whole"] if whole else []))
    return json.loads(as_ordinary_user(place, "tests.security.escape.scene", *words))


@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_no_attempt_leaves_the_sandbox(place: Path, level: str, user: str) -> None:
    outcome = besiege(user, place, level)
    assert len(outcome["tried"]) > 400
    assert (outcome["succeeded"], outcome["changed"]) == ({}, [])


def test_with_network_only_the_network_is_reached(place: Path, level: str) -> None:
    outcome = asyncio.run(siege(place / "scene", level, network=True))
    reached = set(outcome["succeeded"])
    network = {"connect by TCP", "connect by TCP to all addresses"}
    if level == "landlock":
        network |= {"send datagrams by UDP", "see the interfaces of the machine"}
    on_some_machines = {"connect by TCP of version 6", "see an interface of the machine"}
    assert (network - reached, reached - network - on_some_machines) == (set(), set())
    assert outcome["changed"] == []


def test_without_a_sandbox_the_same_attempts_succeed(place: Path) -> None:
    """Without this the other tests would prove nothing. Only attempts that harm nobody are made here."""
    with contextlib.ExitStack() as closing:
        scene = Scene(place / "scene", closing)
        works = [scene.prepare("off", name, closing, whole=False) for name in ("plain", "above")]
        outcomes = [asyncio.run(scene.attack("off", work)) for work in works]
    tried = {name for outcome in outcomes for name in outcome["tried"]}
    succeeded = {name: how for outcome in outcomes for name, how in outcome["succeeded"].items()}
    assert MODULES and tried == {name for name, one in ATTEMPTS.items() if one.outside}
    assert succeeded == dict.fromkeys(tried, "succeeded")


@pytest.mark.soak
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_no_attempt_leaves_the_sandbox_in_many_rounds(level: str, user: str) -> None:
    for number in range(20):
        with tempfile.TemporaryDirectory(prefix="il-") as folder:
            outcome = besiege(user, Path(folder), level, whole=number == 0)
            assert (outcome["succeeded"], outcome["changed"]) == ({}, [])
