"""A diff in the terminal, with the numbers of its parts, and the parts that a person names."""

from interlock.cli.terminal.output import paint
from interlock.domain.review.diff_parts import sections_of
from interlock.domain.values.approvals import MergePayload, Payload, ReviewFile, ReviewPayload, count_choices
from interlock.errors import BadValue
from interlock.views.display import exact

_TONES = {"+": "good", "-": "bad"}


def diff_lines(diff: str, *, numbered: bool = True) -> list[str]:
    """Every line of the diff, safe to print. A part begins with its number, as `approvals answer --hunks` takes it."""
    if not numbered or not diff.startswith("diff --git "):
        return [f"  {_line(line)}" for line in diff.removesuffix("\n").split("\n")] if diff else []
    lines: list[str] = []
    for section in sections_of(diff):
        head = [paint(exact(line), "bold") for line in section.head]
        number = f"{_number(section.first)} " if not section.hunks else ""
        lines += [f"  {number}{head[0]}", *(f"  {line}" for line in head[1:])]
        for number, hunk in zip(section.numbers, section.hunks, strict=False):
            lines += [f"  {_number(number)} {paint(exact(hunk[0]), 'dim')}", *(f"  {_line(line)}" for line in hunk[1:])]
    return lines


def _number(number: int) -> str:
    return paint(f"[{number}]", "waiting")


def _line(line: str) -> str:
    tone = _TONES.get(line[:1], "")
    return paint(exact(line), tone) if tone else exact(line)


def parts_from(text: str, payload: Payload) -> tuple[int, ...]:
    """`1,3-5`, or names of files. Raises BadValue for anything else."""
    most = count_choices(payload)
    if not most:
        raise BadValue("this approval has no hunks to choose from; approve or reject it whole")
    files = (payload.files or ()) if isinstance(payload, ReviewPayload | MergePayload) else ()
    chosen: set[int] = set()
    for word in (part.strip() for part in text.split(",") if part.strip()):
        chosen |= _of_file(word, files) or _numbers(word, most)
    if not chosen:
        raise BadValue(f"name some of the hunks 1 to {most}")
    return tuple(sorted(chosen))


def _of_file(word: str, files: tuple[ReviewFile, ...]) -> set[int]:
    return {number for file in files if file.path == word for number in range(file.first, file.first + file.parts)}


def _numbers(word: str, most: int) -> set[int]:
    """The numbers of `3` or `3-5`."""
    first, dash, last = word.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise BadValue(f"{word!r} is neither a hunk's number, as in 1,3-5, nor a file of the diff")
    numbers = set(range(int(first), min(int(last or first), most + 1) + 1))
    if not numbers or not numbers <= set(range(1, most + 1)):
        raise BadValue(f"{word!r}: choose some of the hunks 1 to {most}")
    return numbers
