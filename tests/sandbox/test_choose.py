"""A sandbox is used when it was seen to work; otherwise the refusal says what to do."""

import asyncio
import os
from pathlib import Path

import pytest

from interlock.errors import Misconfigured
from interlock.sandbox.bubblewrap import BubblewrapSandbox
from interlock.sandbox.choose import choose
from interlock.sandbox.probe import probe
from interlock.sandbox.unconfined import UnconfinedSandbox


def test_bubblewrap_works_here() -> None:
    assert asyncio.run(probe(BubblewrapSandbox())) is None
    assert asyncio.run(choose("auto")).level == "bubblewrap"


def test_off_is_off() -> None:
    assert asyncio.run(choose("off")).level == "off"


def test_the_probe_sees_that_nothing_is_confined_without_a_sandbox() -> None:
    reason = asyncio.run(probe(UnconfinedSandbox())) or ""
    assert "the network can be reached from inside" in reason


def test_without_bubblewrap_the_refusal_names_the_package_and_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Misconfigured, match=r"apt install bubblewrap.*your own configuration.*sandbox = \"off\""):
        asyncio.run(choose("auto"))


def test_a_bubblewrap_that_cannot_do_it_here_is_refused_with_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Misconfigured, match="No permissions to create a new namespace"):
        asyncio.run(choose("auto"))
