"""Tools that read definitions of a Python file."""

from typing import Annotated

from msgspec import Meta, Struct

from interlock.errors import ToolFailure
from interlock.ports.tools import Structure
from interlock.tools.files import files, texts
from interlock.tools.files.paths import Root
from interlock.tools.reads.reading import whole_text

_Path = Annotated[str, Meta(description="Path of the Python file, relative to the worktree.")]
_Name = Annotated[str, Meta(description="Name of the definition: function, Class, Class.method, function.inner.")]
_Line = Annotated[int, Meta(ge=0, description="A line of it, where several have this name.")]


class PyFile(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path


class PyDefinition(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    name: _Name
    line: _Line = 0


class PyClass(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    name: Annotated[str, Meta(description="Name of the class, such as Class or Outer.Inner.")]
    line: _Line = 0


class PyVariable(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    name: Annotated[str, Meta(description="Name of the variable: NAME, Class.NAME or function.NAME.")]
    line: _Line = 0


class PyDocstring(Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    name: Annotated[str, Meta(description="Name of the definition; empty for the file's own docstring.")] = ""
    line: _Line = 0


class GetFileSummary(Struct, forbid_unknown_fields=True, frozen=True):
    path: Annotated[str, Meta(description="Path of the file, relative to the worktree.")]


class PythonReading:
    def __init__(self, structure: Structure) -> None:
        self._structure = structure

    def file_summary(self, root: Root, args: GetFileSummary) -> str:
        content, text = whole_text(root, args.path)
        return self._structure.summary(content.path, text.text)

    def skeleton(self, root: Root, args: PyFile) -> str:
        content, text = _python(root, args.path)
        return self._structure.skeleton(text.text) or f"[{content.path} is empty]"

    def outline(self, root: Root, args: PyFile) -> str:
        content, text = _python(root, args.path)
        return self._structure.outline(text.text) or f"[{content.path} defines nothing]"

    def definition(self, root: Root, args: PyDefinition) -> str:
        return self._structure.definition(_python(root, args.path)[1].text, args.name, args.line)

    def signature(self, root: Root, args: PyDefinition) -> str:
        return self._structure.signature(_python(root, args.path)[1].text, args.name, args.line)

    def class_summary(self, root: Root, args: PyClass) -> str:
        return self._structure.class_summary(_python(root, args.path)[1].text, args.name, args.line)

    def variable(self, root: Root, args: PyVariable) -> str:
        return self._structure.variable(_python(root, args.path)[1].text, args.name, args.line)

    def docstring(self, root: Root, args: PyDocstring) -> str:
        content, text = _python(root, args.path)
        docstring = self._structure.docstring(text.text, args.name, args.line)
        return docstring or f"[{args.name or content.path} has no docstring]"

    def imports(self, root: Root, args: PyFile) -> str:
        content, text = _python(root, args.path)
        return "\n".join(self._structure.imports(text.text)) or f"[{content.path} imports nothing]"

    def check_syntax(self, root: Root, args: PyFile) -> str:
        content, text = _python(root, args.path)
        if problems := self._structure.problems(text.text):
            return "\n".join((f"{content.path} does not parse:", *problems))
        return f"{content.path}: no syntax errors."


def _python(root: Root, path: str) -> tuple[files.Content, texts.Text]:
    content, text = whole_text(root, path)
    if not content.path.lower().endswith((".py", ".pyi", ".pyw")) and "python" not in text.text[:200].split("\n", 1)[0]:
        raise ToolFailure(f"{content.path} is not a Python file; use read_file.")
    return content, text
