"""Function bodies of languages other than Python: which part is replaced, and by which placeholder."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from interlock.codeviews.languages.table import LanguageTable
from interlock.codeviews.syntax.cuts import Cut, indentation, line_break, line_end, without_return

if TYPE_CHECKING:
    from tree_sitter import Node

BRACES = b"{ /* ... */ }"
_RUBY_HEREDOC = re.compile(rb"<<[~-]?[\"'`A-Za-z_\x80-\xff]")  # list << item has a space
_BASH_HEREDOC = re.compile(rb"(?<!<)<<(?!<)")  # <<< takes a word of its own line
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)


def functions(source: bytes, root: "Node", known: LanguageTable) -> "Iterator[tuple[Node, Node]]":
    """Functions with their bodies. A function inside a body belongs to it; one inside a short expression is listed.

    The walk skips bodies and every node without a sign of a body.
    """
    kinds, signs, skipped = known.functions, known.signs, known.skipped
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in kinds and (body := _body(node, known)) is not None:
            if known.style == "braces" and not replaceable(source, body):  # x => x + 1
                stack.append(body)
            else:
                yield node, body
            before = source.find(b"{", node.start_byte, body.start_byte)  # a function as the default of a parameter
            if before >= 0 or source.find(b"{", body.end_byte, node.end_byte) >= 0:  # catch after a try
                stack += [child for child in node.named_children if child.id != body.id]
            continue
        if node.type in known.entered:
            stack += node.named_children
            continue
        for child in node.named_children:
            start, end = child.start_byte, child.end_byte
            for sign in signs:
                if source.find(sign, start, end) >= 0:
                    if child.type not in skipped:
                        stack.append(child)
                    break


def _body(function: "Node", known: LanguageTable) -> "Node | None":
    body = function.child_by_field_name("body")
    if body is not None and function.type in known.expressions:
        return body
    if body is None or (known.bodies and body.type not in known.bodies):
        inside = [child for child in function.named_children if child.type in known.bodies] if body is None else []
        return inside[-1] if inside else None
    if known.declarators and function.type == "function_definition" and not _declares_function(function):
        return None
    return body


def _declares_function(definition: "Node") -> bool:
    """The grammar parses `class EXPORT Name { … }` as a function called Name."""
    node = definition.child_by_field_name("declarator")
    while node is not None:
        if node.type in ("function_declarator", "operator_cast"):
            return True
        inner = node.child_by_field_name("declarator")
        if inner is None and node.named_child_count:
            inner = node.named_child(node.named_child_count - 1)
        node = inner
    return False


def replaceable(source: bytes, body: "Node") -> bool:
    """True for an expression on one line, and for a => b => …: as short as a placeholder, and more informative."""
    if source[body.start_byte] == ord("{"):
        return True
    return (
        body.type not in ("arrow_function", "lambda_expression")
        and source.find(b"\n", body.start_byte, body.end_byte) >= 0
    )


def is_plausible_body(source: bytes, function: "Node", body: "Node") -> bool:
    """A second check for files with syntax errors."""
    return not _may_be_a_type(function, body) and _has_plausible_end(source, function, body)


def _may_be_a_type(function: "Node", body: "Node") -> bool:
    """After an error at the start of a type, the grammar parses `name: (a: A) => { b: B };` as a labelled arrow
    function with labelled statements."""
    if function.type != "arrow_function":
        return False
    statement = function.parent
    around = statement.parent if statement is not None and statement.type == "expression_statement" else None
    first = body.named_child(0) if body.named_child_count else None
    return any(near is not None and near.type == "labeled_statement" for near in (around, first))


def _has_plausible_end(source: bytes, function: "Node", body: "Node") -> bool:
    """Check the indentation: with a missing brace, a body includes the code that follows it.

    The last line must be indented like the first line, and all lines between them deeper.
    """
    end = body.end_byte - 1 if source[body.end_byte - 1] in b"})" else function.end_byte - 1
    if b"\n" not in source[function.start_byte : end]:
        return True
    depths = {_depth(indentation(source, at)) for at in (function.start_byte, body.start_byte)}
    if source[body.start_byte] not in b"{(":  # a Ruby body has no opening line
        depths = {_depth(indentation(source, function.start_byte))}
    if _depth(indentation(source, end)) not in depths:
        return False
    inside = source[body.start_byte : source.rfind(b"\n", 0, end)]
    least = min(depths)
    if b"\t" not in inside:
        return re.search(rb"\n[ \r\f\v]{0,%d}\S" % least, inside) is None
    lines = inside.split(b"\n")[1:]
    return all(_depth(line[: len(line) - len(text)]) > least for line in lines if (text := line.lstrip()))


def _depth(white: bytes) -> int:
    return len(white.expandtabs(8))


def cut(source: bytes, body: "Node", known: LanguageTable) -> Cut | None:
    """The replacement of a body; None if there is nothing to replace or no safe way."""
    start, end = body.start_byte, body.end_byte
    if known.preprocessor and not _balanced(source[start:end]):
        return None
    match known.style:
        case "ruby":
            return _ruby(source, start, end)
        case "bash":
            return _bash(source, start, end)
        case _:
            return _braces(source, body) if replaceable(source, body) else None


def _braces(source: bytes, body: "Node") -> Cut | None:
    start, end = body.start_byte, body.end_byte
    if source[start] == ord("{"):
        empty = source[end - 1] != ord("}") or not source[start + 1 : end - 1].strip()
        return None if empty else Cut(start, end, BRACES)
    around, before = body.parent, body.prev_sibling
    if around is not None and around.type == "property_hook" and before is not None:  # PHP: as C#, by other nodes
        start = before.start_byte
    if source.startswith(b"=>", start):  # the semicolon is part of it
        after = source.find(b";", end)
        whole = around is not None and around.type in ("property_declaration", "indexer_declaration")
        made = b"{ get %b }" % BRACES if whole else BRACES
        return Cut(start, after + 1, made) if after >= 0 and not source[end:after].strip() else None
    return Cut(start, end, BRACES)


def _ruby(source: bytes, start: int, end: int) -> Cut | None:
    """Code after the body on its last line must not become part of the comment."""
    if _heredoc_beyond(source, start, end, _RUBY_HEREDOC):
        return None
    end = without_return(source, end)
    rest = source[end : line_end(source, end)]
    if not rest.strip() or rest.lstrip().startswith(b"#"):
        return Cut(start, end + len(rest), b"# ...")
    after = end + len(rest) - len(rest.lstrip())
    return Cut(start, after, b"# ..." + line_break(source, start) + indentation(source, start))


def _bash(source: bytes, start: int, end: int) -> Cut | None:
    if _heredoc_beyond(source, start, end, _BASH_HEREDOC) or not source[start + 1 : end - 1].strip():
        return None
    if source[start : start + 1] + source[end - 1 : end] not in (b"{}", b"()"):
        return None
    new = line_break(source, start)
    outer = indentation(source, start)
    inside = source[start + 1 : end]
    first = end - len(inside.lstrip())
    indent = indentation(source, first) if b"\n" in source[start:first] else outer + b"  "
    return Cut(start + 1, end - 1, new + indent + b": # ..." + new + outer)


def _heredoc_beyond(source: bytes, start: int, end: int, sign: re.Pattern[bytes]) -> bool:
    """A heredoc that begins on the last line of a body has its text after the body."""
    return sign.search(source, max(start, source.rfind(b"\n", start, end)), end) is not None


def _balanced(text: bytes) -> bool:
    """Every #if of the body has its #endif in the body."""
    if b"#" not in text:
        return True
    depth = 0
    for directive in _DIRECTIVE.finditer(text):
        depth += 1 if directive[1] == b"if" else -1
        if depth < 0:
            return False
    return depth == 0
