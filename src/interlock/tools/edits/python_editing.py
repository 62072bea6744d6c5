"""Tools that change definitions of a Python file. Each returns the new content; the registry shows or writes it."""

from typing import Annotated

from msgspec import Meta, Struct

from interlock.ports.tools import Structure
from interlock.tools.edits.editing import Edit, changed, existing
from interlock.tools.files.paths import Root

_Path = Annotated[str, Meta(description="Path of the Python file, relative to the worktree.")]
_Name = Annotated[str, Meta(description="Name of the definition: function, Class, Class.method, function.inner.")]
_Line = Annotated[int, Meta(ge=0, description="A line of it, where several have this name.")]


class PyUpdateDefinition(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    name: _Name
    new_definition: Annotated[
        str, Meta(description="The whole new definition with its decorators, at any indentation; it is made to fit.")
    ]
    line: _Line = 0


class PySetSignature(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    name: _Name
    new_signature: Annotated[str, Meta(description="The new header, such as def name(a: int) -> str: without a body.")]
    line: _Line = 0


class PySetVarDeclaration(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    name: Annotated[str, Meta(description="Name of the variable: NAME, Class.NAME or function.NAME.")]
    new_declaration: Annotated[str, Meta(description="The whole new statement, such as NAME: int = 3.")]
    line: _Line = 0


class PythonEditing:
    def __init__(self, structure: Structure) -> None:
        self._structure = structure

    def update_definition(self, root: Root, args: PyUpdateDefinition) -> Edit:
        content, was = existing(root, args.path)
        new = self._structure.with_definition(was.text, args.name, args.new_definition, args.line)
        return changed(content.parts, was, new)

    def set_signature(self, root: Root, args: PySetSignature) -> Edit:
        content, was = existing(root, args.path)
        new = self._structure.with_signature(was.text, args.name, args.new_signature, args.line)
        return changed(content.parts, was, new)

    def set_variable(self, root: Root, args: PySetVarDeclaration) -> Edit:
        content, was = existing(root, args.path)
        new = self._structure.with_variable(was.text, args.name, args.new_declaration, args.line)
        return changed(content.parts, was, new)
