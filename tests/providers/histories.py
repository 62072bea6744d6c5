"""A Hypothesis strategy for the message histories of a session."""

from hypothesis import strategies as st

from interlock.ports.model import Message, ToolCall

UPDATES = "\n\n[SYSTEM: FILES UPDATED]\n\n"

_texts = st.text(st.characters(codec="utf-8"), max_size=60)


@st.composite
def histories(draw: st.DrawFn, most: int = 12) -> tuple[Message, ...]:
    """The user begins; an answer calls tools or ends; each call gets a result, in any order; the user continues."""
    history = [Message("user", draw(_texts))]
    for number in range(draw(st.integers(0, most))):
        calls = draw(st.integers(0, 3))
        names = [f"c{number}-{n}" for n in range(calls)]
        args = st.dictionaries(st.sampled_from(["path", "b", "a"]), _texts, max_size=3)
        history.append(Message("assistant", draw(_texts), tuple(ToolCall(name, "grep", draw(args)) for name in names)))
        for name in draw(st.permutations(names)):
            updates = UPDATES + draw(_texts) if draw(st.booleans()) else ""
            history.append(Message("tool", draw(_texts) + updates, call_id=name))
        if not calls or draw(st.booleans()):
            history.append(Message("user", draw(_texts)))
    return tuple(history)
