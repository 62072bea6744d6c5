"""The first sandbox that passes a trial is used; without one the refusal explains what to do."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from interlock.errors import Misconfigured
from interlock.sandbox.jobs import confine
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.choose import choice, choose
from interlock.sandbox.levels.probe import Probe, probe
from interlock.sandbox.levels.promises import promises
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from tests.sandbox.sandbox_levels import make_sandbox


@pytest.fixture
def no_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "abi", lambda: 0)


@pytest.fixture
def broken_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


def test_bubblewrap_works_here() -> None:
    assert asyncio.run(probe(BubblewrapSandbox())) == Probe()
    chosen = asyncio.run(choice("auto"))
    assert (chosen.sandbox.level, chosen.why) == ("bubblewrap", "")


def test_landlock_works_here_and_can_be_asked_for() -> None:
    assert asyncio.run(probe(make_sandbox("landlock"))) == Probe()
    chosen = asyncio.run(choice("landlock"))
    assert (chosen.sandbox.level, chosen.why) == ("landlock", "")


_REFUSING = """#!{python} -IS
import os, sys
content = b""
while part := os.read(4, 65536):
    content += part
words = content.split(b"\\0")
if any(word.encode() in words for word in {refused!r}):
    sys.exit("bwrap: Unknown option {refused[0]}")
again = os.memfd_create("options", 0)
os.write(again, content)
os.lseek(again, 0, 0)
os.dup2(again, 4)
os.execv({bwrap!r}, sys.argv)
"""


def refusing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *refused: str) -> None:
    """Puts a bwrap into PATH that does not know these options."""
    fake = tmp_path / "bwrap"
    bwrap = shutil.which("bwrap")
    fake.write_text(_REFUSING.format(python=os.path.realpath(sys.executable), refused=refused, bwrap=bwrap))
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


def test_a_bubblewrap_that_cannot_limit_sizes_is_used_and_its_missing_promise_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(tmp_path, monkeypatch, "--size")
    chosen = asyncio.run(choice("auto"))
    assert (chosen.sandbox.level, chosen.missing) == ("bubblewrap", ("sizes",))
    kept, lost = promises(chosen.sandbox.level, chosen.missing)
    assert [promise.partition(": ") for promise in lost] == [
        (
            "fills its /tmp, /dev/shm and home only up to [limits] tmp_mb each",
            ": ",
            "this bubblewrap cannot limit a size; version 0.7 can",
        )
    ]
    assert not any("tmp_mb" in promise for promise in kept)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can do without a user namespace")
def test_root_without_user_namespaces_has_no_capabilities_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(tmp_path, monkeypatch, "--unshare-user")
    chosen = asyncio.run(choice("auto"))
    assert (chosen.sandbox.level, chosen.missing) == ("bubblewrap", ("user namespace",))


def test_off_is_off() -> None:
    assert asyncio.run(choose("off")).level == "off"


def test_the_probe_sees_that_nothing_is_confined_without_a_sandbox() -> None:
    reason = asyncio.run(probe(UnconfinedSandbox())).broken
    assert "the network can be reached from inside" in reason


@pytest.mark.usefixtures("broken_bubblewrap")
def test_where_bubblewrap_does_not_work_it_is_landlock_and_the_reason_is_kept() -> None:
    make_sandbox("landlock")
    chosen = asyncio.run(choice("auto"))
    assert chosen.sandbox.level == "landlock"
    assert chosen.why == (
        "bubblewrap is installed but does not work here: a command run in it fails"
        " (bwrap: No permissions to create a new namespace)"
    )


def test_where_bubblewrap_is_missing_it_is_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    make_sandbox("landlock")
    monkeypatch.setenv("PATH", "/nowhere")
    chosen = asyncio.run(choice("auto"))
    assert (chosen.sandbox.level, chosen.why) == (
        "landlock",
        "bubblewrap is not installed (on Debian: apt install bubblewrap)",
    )


def test_a_request_for_bubblewrap_gets_nothing_weaker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Misconfigured, match=r"apt install bubblewrap.*your own configuration.*sandbox = \"off\""):
        asyncio.run(choose("bubblewrap"))


@pytest.mark.usefixtures("no_landlock")
def test_without_either_the_refusal_names_both_and_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        Misconfigured,
        match=r"apt install bubblewrap.*kernel has no Landlock.*your own configuration.*sandbox = \"off\"",
    ):
        asyncio.run(choose("auto"))


@pytest.mark.usefixtures("broken_bubblewrap", "no_landlock")
def test_a_bubblewrap_that_does_not_work_is_refused_with_its_error() -> None:
    with pytest.raises(Misconfigured, match="No permissions to create a new namespace"):
        asyncio.run(choose("auto"))
