"""A text quoted by the documented escaping reaches a real shell unchanged, byte for byte."""

import shlex
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.domain.reading.command_language import parse_command
from interlock.domain.reading.command_tokens import quoted
from interlock.domain.values.gates import Gate

TEXTS = st.text(st.sampled_from("\\\"' \n$`:->*") | st.characters(codec="utf-8", exclude_characters="\0"), max_size=200)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_a_command_in_quotes_arrives_at_the_shell_unchanged(text: str) -> None:
    command = f"printf %s {shlex.quote(text)}"
    (gate,) = parse_command(f">>a don't stop :: verify:{quoted(command)} :fast --> >>b").steps[0].gates
    assert isinstance(gate, Gate)
    assert gate == Gate(command, preset="fast")
    assert subprocess.run(("sh", "-c", gate.command), capture_output=True, check=True).stdout == text.encode()
