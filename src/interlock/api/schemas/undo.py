"""JSON shapes of lasting changes that can be taken back."""

from typing import Annotated

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count


class UndoRowShape(Struct, frozen=True):
    id: str
    at: str
    what: str
    state: Annotated[str, Meta(description="`done`, or `undone`: then it can be redone.")]
    paths: Annotated[Count, Meta(description="The number of changed paths; 0 if only a checkpoint or git knows them.")]


class UndoPlanShape(Struct, frozen=True):
    id: str
    what: str
    redo: bool
    files: Annotated[list[str], Meta(description="What would happen to each path, such as `restore a.txt`.")]
    more: Count
    changed: Annotated[list[str], Meta(description="Files that you changed since: they stop it, unless it is forced.")]


class UndoShape(Struct, frozen=True):
    changes: Annotated[list[UndoRowShape], Meta(description="Newest first.")]
    undo: Annotated[UndoPlanShape | None, Meta(description="What the next undo would do.")]
    redo: Annotated[UndoPlanShape | None, Meta(description="What the next redo would do.")]


class UndoChoice(Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(description="The change that `GET /api/undo` showed: another one is refused.")]
    redo: bool = False
    force: Annotated[bool, Meta(description="Also if you changed the files since; a checkpoint keeps them.")] = False


class UndoneShape(Struct, frozen=True):
    id: str
    what: str
    redo: bool
    note: str
    checkpoint: str
