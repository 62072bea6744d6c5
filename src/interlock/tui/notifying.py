"""Tells a user who looks elsewhere that something waits: a bell, and a notification of the terminal.

The text is the kind and the id of an approval, nothing else: notifications leave the terminal.
"""

import re
from collections.abc import Iterable, Mapping

from interlock.domain.values.approvals import Approval
from interlock.tui.bench import Notify

BELL = "\a"
_NAME = re.compile(r"[^A-Za-z0-9 ,-]")


def notification(new: Iterable[Approval], setting: Notify, environment: Mapping[str, str]) -> str:
    """What to write to the terminal; empty for nothing."""
    approvals = tuple(new)
    if setting == "off" or not approvals:
        return ""
    if setting == "bell":
        return BELL
    named = ", ".join(f"{approval.kind} {approval.id}" for approval in approvals[:3])
    more = f" and {len(approvals) - 3} more" if len(approvals) > 3 else ""
    words = _NAME.sub("", f"{named}{more}")
    return "".join(_wrapped(sequence, environment) for sequence in _sequences(words, environment)) + BELL


def _sequences(words: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """OSC 99 for kitty, OSC 777 for terminals that descend from rxvt and for VTE, OSC 9 for all others."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if "kitty" in term or environment.get("KITTY_WINDOW_ID"):
        return (f"\x1b]99;i=interlock:d=0;Interlock\x1b\\\x1b]99;i=interlock:p=body;{words}\x1b\\",)
    if environment.get("VTE_VERSION") or "rxvt" in term or "foot" in term or program in ("ghostty", "WezTerm"):
        return (f"\x1b]777;notify;Interlock;{words}\x1b\\",)
    return (f"\x1b]9;Interlock: {words}\x1b\\",)


def _wrapped(sequence: str, environment: Mapping[str, str]) -> str:
    """Through tmux to the terminal around it, if that lets sequences pass; the bell reaches tmux in any case."""
    if not environment.get("TMUX"):
        return sequence
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"
