"""Typed arguments: every command has one frozen struct, made from argparse's namespace in one place."""

from argparse import Namespace
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal, TypeVar

from msgspec import Struct, convert

Arguments = TypeVar("Arguments", bound=Struct)


class NoArgs(Struct, frozen=True):
    pass


class ProjectArgs(Struct, frozen=True):
    project: str | None


class CommandArgs(ProjectArgs, frozen=True):
    """The options of nearly every command; the whole struct of a command without further ones."""

    json: bool


class ModelArgs(ProjectArgs, frozen=True):
    """The options that choose a model."""

    provider: str | None
    model: str | None
    script: str | None
    agent: str | None
    max_tool_rounds: int | None


class WorkArgs(ModelArgs, frozen=True):
    """The options that `run`, `resume`, `do` and `chat` share."""

    json: bool
    approve: Literal["all"] | None
    plain: bool

    @property
    def approve_all(self) -> bool:
        return self.approve == "all"


def load_handler(name: str) -> tuple[Callable[[Any], int], type[Struct]]:
    """The function of `module:function` below `interlock.cli`, and the struct that it takes."""
    module, _, function = name.partition(":")
    handler = getattr(import_module(f"interlock.cli.{module}"), function)
    return handler, handler.__annotations__["args"]


def arguments_of(namespace: Namespace, kind: type[Arguments]) -> Arguments:
    """The fields must be those that the parser provides: tests/cli/test_words.py checks this for every command."""
    return convert({name: getattr(namespace, name) for name in kind.__struct_fields__}, kind)
