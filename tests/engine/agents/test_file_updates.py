"""Notes about files that changed since they were shown: once, at the end of a round, also across restarts."""

import asyncio
from typing import Any

import pytest

from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.values.tickets import TicketSpec
from interlock.engine.agents.conversation import for_request
from interlock.engine.agents.file_updates import MOST, block
from interlock.engine.agents.shown_files import no_outline
from interlock.ports.model import Message, ShownFile, ToolCall
from tests.engine.world import ANN, World

LONG = [f"line {number}" for number in range(1, 301)]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# ── the note ─────────────────────────────────────────────────────────────────────────────


def test_a_short_file_is_shown_whole_and_a_deleted_one_is_named() -> None:
    note = block([("a.py", "x\n", "x\n```\ny"), ("new.py", None, "one\n"), ("b.py", "b", None)], no_outline)
    assert note == (
        "[SYSTEM: FILES UPDATED]\n\n"
        "a.py (3 lines):\n````\nx\n```\ny\n````\n\n"
        "new.py (1 line):\n```\none\n```\n\n"
        "b.py was deleted."
    )


def test_a_long_file_is_shown_by_what_changed() -> None:
    now = [*LONG[:99], "changed", *LONG[100:250], "added", *LONG[250:]]
    assert block([("long.py", text(LONG), text(now))], no_outline) == (
        "[SYSTEM: FILES UPDATED]\n\n"
        "long.py (301 lines), what changed:\n```\n"
        "--- a/long.py\n+++ b/long.py\n"
        "@@ -97,7 +97,7 @@\n line 97\n line 98\n line 99\n-line 100\n+changed\n line 101\n line 102\n line 103\n"
        "@@ -248,6 +248,7 @@\n line 248\n line 249\n line 250\n+added\n line 251\n line 252\n line 253\n```"
    )


def test_a_change_at_either_end_of_a_long_file_has_its_right_line_numbers() -> None:
    for now, header in (
        (["first", *LONG], "@@ -1,3 +1,4 @@\n+first\n line 1"),
        ([*LONG, "last"], "@@ -298,3 +298,4 @@\n line 298\n line 299\n line 300\n+last"),
        (LONG[:-1], "@@ -297,4 +297,3 @@\n line 297\n line 298\n line 299\n-line 300"),
    ):
        assert header in block([("long.py", text(LONG), text(now))], no_outline)


def test_a_long_file_that_lost_its_last_line_break_is_no_new_one() -> None:
    note = block([("long.py", text(LONG), text(LONG).rstrip())], no_outline)
    assert note.endswith("-line 300\n+line 300\n\\ No newline at end of file\n```")


def test_a_form_feed_does_not_end_a_line() -> None:
    lines = ["\f" if number % 2 else "\u2028" for number in range(150)]
    now = text([*lines, *LONG])
    changed = now.replace("line 300\n", "last\n")
    assert "@@ -447,4 +447,4 @@" in block([("a.py", now, changed)], no_outline)
    assert block([("a.py", None, text(lines))], no_outline).startswith("[SYSTEM: FILES UPDATED]\n\na.py (150 lines):")


def test_a_long_file_with_nothing_to_compare_with_is_outlined() -> None:
    note = "long.py (300 lines) is new or has changed a lot; read the lines you need with get_file_slice"
    assert block([("long.py", None, text(LONG))], no_outline).endswith(f"\n\n{note}.")
    outlined = block([("long.py", None, text(LONG))], lambda path, now: f"[Func] of {path}\n")
    assert outlined.endswith(f"\n\n{note}:\n```\n[Func] of long.py\n```")
    other = text([f"other {number}" for number in range(9_000)])
    assert note.split(" (")[1][11:] in block([("long.py", text(LONG * 20), other)], no_outline)


def test_an_outline_that_is_cut_says_so() -> None:
    note = block([("long.py", None, text(LONG))], lambda *_: "\n".join(f"[Func] f{n:05}" for n in range(2_000)))
    assert note.endswith("[Func] f01427\n[… 572 more lines of the outline not shown]\n```")


def test_the_whole_note_stays_within_bounds() -> None:
    wide = "w" * 19_000
    note = block([(f"{n}.py", None, wide) for n in range(5)] + [("one.py", None, "w" * 30_000)], no_outline)
    assert len(note) < MOST + 1_000
    assert note.count(wide) == 2
    assert note.count("has changed too; read it again.") == 3
    assert note.endswith("one.py (1 line) is new or has changed a lot; read the lines you need with get_file_slice.")
    assert block([], no_outline) == ""


# ── its position ─────────────────────────────────────────────────────────────────────────


def a_round(number: int, updates: str = "") -> list[Message]:
    seen = (ShownFile("a.py", "ab"),)
    return [
        Message("assistant", "", (ToolCall(f"c{number}", "look", {}),)),
        Message("tool", f"result {number}", call_id=f"c{number}", updates=updates, seen=seen),
    ]


def test_only_the_latest_note_about_changed_files_is_sent() -> None:
    messages = [Message("user", "go", seen=(ShownFile("a.py", ""),)), *a_round(1, "UPDATED 1"), *a_round(2)]
    assert [m.text for m in for_request(messages)] == ["go", "", "result 1\n\nUPDATED 1", "", "result 2"]
    messages += a_round(3, "UPDATED 3")
    sent = for_request(messages)
    assert [m.text for m in sent if m.role == "tool"] == ["result 1", "result 2", "result 3\n\nUPDATED 3"]
    assert all(not message.seen and not message.updates for message in sent)


# ── from the worktree ────────────────────────────────────────────────────────────────────


FOLDER = "/worktrees/a/one"
TICKET = TicketSpec(id="one", target_file="./a.py", context_requirements=("b.py",))


def calls(match: str, *given: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"match": match, "tool_calls": [{"name": name, "args": args} for name, args in given]}


def make_world(*rules: dict[str, Any]) -> World:
    world = World()
    world.rules = list(rules)
    world.tools.files = {"a.py": "old a\n", "b.py": "old b\n", "c.py": "old c\n"}
    return world


async def run(world: World) -> None:
    async with world.process(approve_all=True) as process:
        await process.run(TICKET)
        await process.until_status("done")


def update_notes(world: World) -> list[str]:
    """The last message of each request, from the heading on."""
    return [r.messages[-1].text.partition("[SYSTEM: FILES UPDATED]\n\n")[2] for r in world.requests]


def test_files_shown_read_and_written_are_followed_and_noted_once_a_round() -> None:
    world = make_world(
        calls("# Ticket one", ("change", {"path": "a.py", "text": "new a\n"}), ("look", {"path": "c.py"})),
        calls("look done", ("change", {"path": "c.py", "text": "new c\n"}), ("look", {"path": f"{FOLDER}/b.py"})),
        calls("b.py", ("look", {})),
        {"match": "look done", "reply": "done"},
    )
    world.rules[0]["times"] = world.rules[1]["times"] = world.rules[2]["times"] = 1
    asyncio.run(run(world))
    assert update_notes(world) == ["", "a.py (1 line):\n```\nnew a\n```", "c.py (1 line):\n```\nnew c\n```", ""]
    results = [message.text for message in world.requests[1].messages if message.role == "tool"]
    assert ["FILES UPDATED" in result for result in results] == [False, True], "after the last call of the round"
    assert "FILES UPDATED" not in "".join(message.text for message in world.requests[2].messages[:-1])


def test_a_file_read_and_then_changed_in_the_same_round_has_changed() -> None:
    world = make_world(
        calls("# Ticket one", ("look", {"path": "c.py"}), ("change", {"path": "c.py", "text": "new c\n"})),
        {"match": "change done", "reply": "done"},
    )
    asyncio.run(run(world))
    assert update_notes(world)[1] == "c.py (1 line):\n```\nnew c\n```"


def test_the_compared_file_versions_survive_a_restart() -> None:
    async def story() -> None:
        world = make_world(
            calls("# Ticket one", ("look", {}), ("change", {"to": 1})), {"match": "change done", "reply": "done"}
        )
        world.tools.files["b.py"] = text(LONG)
        async with world.process() as process:
            await process.run(TICKET)
            await process.until(lambda state: "A-1" in state.approvals)
            await process.workbench.submit(ANN, AnswerApproval("A-1", "approve"))
            await process.until(lambda state: "A-2" in state.approvals)
        del world.tools.files["a.py"]
        world.tools.files["b.py"] = text([*LONG, "by somebody else"])
        async with world.process() as process:
            await process.workbench.submit(ANN, AnswerApproval("A-2", "approve"))
            await process.until_status("done")
        assert update_notes(world)[-1] == (
            "a.py was deleted.\n\nb.py (301 lines), what changed:\n```\n--- a/b.py\n+++ b/b.py\n"
            "@@ -298,3 +298,4 @@\n line 298\n line 299\n line 300\n+by somebody else\n```"
        )

    asyncio.run(story())


def test_a_text_that_is_no_longer_stored_is_no_error() -> None:
    world = make_world(
        calls("# Ticket one", ("change", {"path": "b.py", "text": text([*LONG, "more"])})),
        {"match": "change done", "reply": "done"},
    )
    world.tools.files["b.py"] = "#" * 1_000_001
    asyncio.run(run(world))
    assert update_notes(world)[1].startswith("b.py (301 lines) is new or has changed a lot")


@pytest.mark.parametrize("path", [3, None, ["a.py"]])
def test_a_path_that_is_none_is_not_followed(path: object) -> None:
    world = make_world(calls("# Ticket one", ("look", {"path": path})), {"match": "look done", "reply": "done"})
    asyncio.run(run(world))
    assert update_notes(world) == ["", ""]
