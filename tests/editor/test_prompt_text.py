"""The content of a prompt as one text."""

import acp
import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.editor.prompt_text import MOST_BLOCKS, Block, prompt_text
from interlock.errors import BadValue


def closed(path: str) -> str:
    return ClosedNames().refusal(tuple(path.strip("/").split("/"))) or ""


def text_of(*blocks: Block) -> str:
    return prompt_text(blocks, "/srv/shop", closed)


def test_links_to_files_become_paths_that_the_models_tools_take() -> None:
    text = text_of(
        acp.text_block("Look at "),
        acp.resource_link_block("cart.py", "file:///srv/shop/src/my%20cart.py#L10-12"),
        acp.text_block(" and "),
        acp.resource_link_block("page", "https://example.org/x"),
    )
    assert text == "Look at `src/my cart.py (L10-12)` and `https://example.org/x`"


def test_an_embedded_file_follows_the_message_in_a_fence_it_cannot_leave() -> None:
    resource = acp.embedded_text_resource("file:///srv/shop/README.md", "```\ncode\n```\n")
    assert text_of(acp.text_block("Read "), acp.resource_block(resource)) == (
        "Read `README.md`\n\nThe content of `README.md`:\n\n````\n```\ncode\n```\n````"
    )


@pytest.mark.parametrize("name", [".env", "deploy/id_rsa", ".interlock/journal.db", "sub/.aws/credentials"])
def test_a_file_that_may_hold_secrets_is_not_sent(name: str) -> None:
    resource = acp.embedded_text_resource(f"file:///srv/shop/{name}", "KEY=1")
    with pytest.raises(BadValue, match="is not sent to a model"):
        text_of(acp.resource_block(resource))


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (acp.image_block("aGk=", "image/png"), "no images"),
        (acp.audio_block("aGk=", "audio/wav"), "no audio"),
        (acp.resource_block(acp.embedded_blob_resource("file:///x.bin", "aGk=")), "not embedded binary files"),
    ],
)
def test_content_that_is_not_offered_is_refused_with_a_sentence(block: Block, words: str) -> None:
    with pytest.raises(BadValue, match=words):
        text_of(block)


def test_a_prompt_has_a_limited_number_of_parts() -> None:
    with pytest.raises(BadValue, match="at most 1,000 parts"):
        text_of(*[acp.text_block("x")] * (MOST_BLOCKS + 1))
