"""Chooses how a turn of a discussion is shown."""

import sys
from functools import partial

from interlock.assembly.project import Project, kept_text
from interlock.cli.terminal.board.choice import redraws
from interlock.cli.terminal.talking.live_talk import LiveTalk
from interlock.cli.terminal.talking.plain_talk import PlainTalk

Talk = LiveTalk | PlainTalk


def talk_display(project: Project, discussion: str, log: list[str], *, quiet: bool, plain: bool) -> Talk:
    """`log` gets every whole text of the turn."""
    if not quiet and redraws(plain=plain):
        return LiveTalk(discussion, partial(kept_text, project), log)
    return PlainTalk(discussion, quiet=quiet or not sys.stdout.isatty())
