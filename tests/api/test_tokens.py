"""The files of the tokens: readable for their owner only, and each with its own token."""

import json
import os
from pathlib import Path

from interlock.api.tokens import Discovery, new_tokens


def test_every_token_file_holds_its_own_token_and_is_readable_for_its_owner_only(tmp_path: Path) -> None:
    tokens, approve = new_tokens(), tmp_path / "state" / "approve.json"
    before = os.umask(0)
    try:
        Discovery(tmp_path / "run", approve).publish("127.0.0.1", 80, tokens)
    finally:
        os.umask(before)
    files = {tmp_path / "run/api.json": tokens.drive, tmp_path / "run/ask.json": tokens.ask, approve: tokens.approve}
    for file, token in files.items():
        assert json.loads(file.read_text())["token"] == token
        assert file.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.rglob("*.json.*")), "no half-written file is left"


def test_a_token_has_exactly_its_own_capability() -> None:
    tokens = new_tokens()
    found = [tokens.capability(token) for token in (tokens.drive, tokens.approve, tokens.ask, "", "x")]
    assert found == ["drive", "approve", "ask", None, None]
