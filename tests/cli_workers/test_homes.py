"""The folder of an agent: logins are copied for our user alone, and a failure to write is a sentence."""

from pathlib import Path

import pytest

from interlock.cli_workers.homes import AgentFolder, copy_login, write
from interlock.cli_workers.profile import PROFILES
from interlock.errors import Unavailable


def test_a_login_is_copied_for_our_user_alone_and_replaces_a_link(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / ".credentials.json").write_text("{}")
    folder = AgentFolder(tmp_path / "agent")
    folder.make(b"shim")
    copied = folder.home / ".claude" / ".credentials.json"
    copied.parent.mkdir()
    copied.symlink_to(outside)  # as a command of an earlier turn could have left it
    assert copy_login(PROFILES["claude"], folder, str(home)) == (".claude/.credentials.json",)
    assert (copied.read_text(), copied.is_symlink(), copied.stat().st_mode & 0o777) == ("{}", False, 0o600)
    assert not outside.exists()


def test_what_cannot_be_written_is_said_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match=r"cannot write .*file/x: .*make room"):
        write(tmp_path / "file" / "x", b"")
