"""`[agents.NAME]`: a CLI agent as a worker. Every key of a known agent has a default."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

_WORDS = {"allowed": "a list of texts"}
Words = tuple[str, ...]


class AgentSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    command: Annotated[
        str | None,
        Meta(description="Command line of the agent, split as a shell would"),
    ] = None
    start: Annotated[Words | None, Meta(description="Words after the command for a new conversation", extra=_WORDS)] = (
        None
    )
    resume: Annotated[
        Words | None,
        Meta(description="Words after the command to continue one; {session} is replaced", extra=_WORDS),
    ] = None
    model: Annotated[Words | None, Meta(description="Words that choose a model; {model} is replaced", extra=_WORDS)] = (
        None
    )
    prompt: Annotated[Literal["stdin", "argument"] | None, Meta(description="How the agent gets its prompt")] = None
    output: Annotated[
        Literal["claude", "codex", "gemini", "acp", "text"] | None,
        Meta(description="What the agent prints: JSON lines of one of these agents, ACP, or plain text"),
    ] = None
    permissions: Annotated[
        Literal["hook", "acp", "none"] | None,
        Meta(description="How the agent asks about its tool calls; none: it needs your approval for each ticket"),
    ] = None
    mode: Annotated[str | None, Meta(description="The mode of an ACP session in which the agent asks")] = None
    login_files: Annotated[
        Words | None, Meta(description="Files below your home with its login; it gets copies", extra=_WORDS)
    ] = None
    login_variables: Annotated[
        Words | None, Meta(description="Variables of your environment with its login", extra=_WORDS)
    ] = None
    variables: Annotated[
        dict[str, str] | None,
        Meta(description="More variables of the agent", extra={"allowed": 'a table of texts such as { LANG = "C" }'}),
    ] = None
    addresses: Annotated[
        Words | None, Meta(description="Variables that name another address of its vendor", extra=_WORDS)
    ] = None
    hosts: Annotated[
        Words | None,
        Meta(description="The hosts that the agent reaches, such as api.example.com or *.example.com", extra=_WORDS),
    ] = None
