"""The prompt of a CLI agent, and the calls of Interlock's tools in its answers."""

import json

from hypothesis import given
from hypothesis import strategies as st

from interlock.ports.model import Message, ModelRequest, ToolCall
from interlock.ports.tools import ToolSpec
from interlock.providers.cli_agent.prompt import first_prompt, next_prompt, tool_calls

READ = ToolSpec("read_file", "Reads a file.", {"type": "object"}, changes=False)
CALL = ToolCall("c-1", "read_file", {"path": "a"})


def request(*messages: Message, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    return ModelRequest("Tier 3", "T-1", None, "Be good.\n", messages, tools)


def test_the_first_prompt_is_the_system_prompt_and_the_words() -> None:
    assert first_prompt(request(Message("user", "Do it."))) == "Be good.\n\nDo it."


def test_tools_are_described_with_their_call_syntax_and_no_sample_result() -> None:
    prompt = first_prompt(request(Message("user", "Do it."), tools=(READ,)))
    assert '{"name": "read_file", "description": "Reads a file.", "schema": {"type": "object"}}' in prompt
    assert "```tool_call" in prompt
    assert '"role": "tool"' not in prompt
    assert '"tool_call_id"' not in prompt


def test_a_conversation_is_one_object_for_each_message() -> None:
    history = (Message("user", "Do it."), Message("assistant", "I look.", (CALL,)), Message("tool", "é", call_id="c-1"))
    rows = first_prompt(request(*history)).splitlines()[-3:]
    assert [json.loads(row) for row in rows] == [
        {"role": "user", "content": "Do it."},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "c-1", "name": "read_file", "args": {"path": "a"}}],
        },
        {"role": "tool", "tool_call_id": "c-1", "content": "é"},
    ]
    assert '"role": "tool", "tool_call_id": "c-1"' in next_prompt(history[2:])


def test_a_new_message_never_begins_with_a_command_of_the_agent() -> None:
    assert next_prompt([Message("user", "/quit")]) == "### USER:\n/quit"


def test_calls_are_taken_out_of_the_answer() -> None:
    text = (
        "I look first.\n\n"
        '```tool_call\n{"name": "read_file", "args": {"path": "a"}}\n```\n'
        '```tool_call\n{\n  "name": "grep",\n  "args": {"pattern": "```"}\n}\n```\n'
    )
    assert tool_calls(text) == (
        "I look first.",
        (ToolCall("cli-1", "read_file", {"path": "a"}), ToolCall("cli-2", "grep", {"pattern": "```"})),
    )
    assert tool_calls("Just words.\n```json\n[]\n```") == ("Just words.\n```json\n[]\n```", ())


def test_an_unreadable_call_runs_nothing_and_is_reported() -> None:
    def unread(body: str, name: str = "tool_call") -> tuple[ToolCall, ...]:
        return (ToolCall("cli-1", name, {}, body),)

    assert tool_calls("```tool_call\n{oh\n```")[1] == unread("{oh")
    assert tool_calls("```tool_call\n[]\n```")[1] == unread("[]")
    assert tool_calls('```tool_call\n{"args": {}}\n```')[1] == unread('{"args": {}}')
    assert tool_calls('```tool_call\n{"name": "grep", "args": [1]}\n```')[1] == unread("[1]", "grep")
    cut = '```tool_call\n{"name": "write_file", "args": {}}'
    assert tool_calls(cut)[1] == unread('{"name": "write_file", "args": {}}'), "no partial call runs"


@given(st.text(), st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.lists(st.text()))))
def test_any_name_and_arguments_arrive_as_they_were_written(name: str, args: dict[str, object]) -> None:
    for indent in (None, 2):
        block = f"```tool_call\n{json.dumps({'name': name, 'args': args}, indent=indent)}\n```"
        assert tool_calls(f"Words.\n\n{block}\n\n{block}") == (
            "Words.",
            (ToolCall("cli-1", name, args), ToolCall("cli-2", name, args)),
        )


@given(st.text(alphabet='`tool_cal\n{}"n m:'))
def test_no_answer_makes_it_raise(text: str) -> None:
    kept, calls = tool_calls(text)
    assert calls or kept == text
