"""A request as blocks, the same for every provider, in the order in which they are sent."""

from msgspec.structs import replace

from interlock.engine.models.prefix_blocks import CONTEXT, blocks_of
from interlock.ports.model import Message, ModelRequest, ToolCall
from interlock.ports.tools import ToolSpec
from interlock.views.usage.prefix import prefix_break

TOOL = ToolSpec("grep", "Looks.", {}, changes=False)
REQUEST = ModelRequest(
    "Tier 3",
    "T",
    None,
    "Be exact.",
    (
        Message("user", "go"),
        Message("assistant", "", (ToolCall("c1", "grep", {}),)),
        Message("tool", "x" * 50, call_id="c1"),
    ),
    (TOOL,),
    context="c" * (CONTEXT + 1),
)


def test_every_part_is_a_block_with_a_name_of_its_own() -> None:
    assert [block.label for block in blocks_of(REQUEST)] == [
        "tool grep",
        "system",
        "context 1",
        "context 2",
        "message 1 (user)",
        "message 2 (assistant)",
        "message 3 (tool)",
    ]
    assert blocks_of(ModelRequest("Tier 3", None, None, "", (), ())) == ()


def test_tools_that_may_not_be_called_any_more_are_still_described() -> None:
    last = replace(REQUEST, tools=(), withdrawn=(TOOL,), messages=(*REQUEST.messages, Message("user", "answer now")))
    assert prefix_break(blocks_of(REQUEST), blocks_of(last)) is None


def test_a_result_that_is_shortened_later_is_found() -> None:
    *before, _ = REQUEST.messages
    shortened = replace(REQUEST, messages=(*before, Message("tool", "x" * 10, call_id="c1"), Message("user", "more")))
    breaks = prefix_break(blocks_of(REQUEST), blocks_of(shortened))
    assert breaks is not None
    assert (breaks.block, breaks.how, breaks.again) == ("message 3 (tool)", "changed", 0)
