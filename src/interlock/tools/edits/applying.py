"""Shows the edits of one call as hunks, and writes them, all or nothing."""

import contextlib
from collections.abc import Sequence

from msgspec import Struct

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import InterlockError, ToolFailure
from interlock.ports.tools import Hunk, Preview
from interlock.tools.edits.editing import Edit
from interlock.tools.edits.hunks import FileChange, compare
from interlock.tools.files import files
from interlock.tools.files.paths import Root
from interlock.views.display import counted


class _Step(Struct, frozen=True):
    """One file of a call. `chosen` are its approved hunks."""

    edit: Edit
    change: FileChange
    hunks: tuple[Hunk, ...]
    chosen: frozenset[int]

    @property
    def skipped(self) -> bool:
        return bool(self.hunks) and not self.chosen

    @property
    def whole(self) -> bool:
        return len(self.chosen) == len(self.hunks)


def preview(edits: Sequence[Edit]) -> Preview:
    steps = _steps(edits, None)
    title = (
        f"{_verb(edits[0])} {edits[0].path}"
        if len(edits) == 1
        else f"Change {counted(len(edits), 'file')}: {_named(edits)}"
    )
    hunks = tuple(hunk for step in steps for hunk in step.hunks)
    return Preview(title, hunks, paths=tuple(edit.path for edit in edits))


def write(folder: str, names: ClosedNames, edits: Sequence[Edit], hunks: tuple[int, ...] | None) -> str:
    """A sentence about the change."""
    steps = _steps(edits, hunks)
    every = [hunk for step in steps for hunk in step.hunks]
    if every and not any(step.chosen for step in steps):
        paths = ", ".join(edit.path for edit in edits)
        return f"Nothing was changed in {paths}: none of the {counted(len(every), 'hunk')} was approved."
    done = [step for step in steps if not step.skipped]
    with Root(folder, names) as root:
        _write_all_or_none(root, done)
    summary = "\n".join(_summary(step) for step in done)
    left_out = [hunk for step in steps for hunk in step.hunks if hunk.number not in step.chosen]
    if not left_out:
        return summary
    rows = "\n".join(f"{hunk.number}: {hunk.header}\n{hunk.text}" for hunk in left_out)
    which = f"Of the {counted(len(every), 'hunk')} these were NOT applied, because they were not approved"
    return f"{summary}\n{which}:\n{rows}"


def _steps(edits: Sequence[Edit], hunks: tuple[int, ...] | None) -> list[_Step]:
    steps: list[_Step] = []
    count = 0
    for edit in edits:
        change = compare(edit.path, edit.old, edit.text, count)
        of_file = change.hunks()
        chosen = frozenset(hunk.number for hunk in of_file if hunks is None or hunk.number in hunks)
        steps.append(_Step(edit, change, of_file, chosen))
        count += len(of_file)
    if unknown := sorted(set(hunks or ()) - set(range(1, count + 1))):
        raise ToolFailure(f"There is no hunk {', '.join(map(str, unknown))}; the change has {count}.")
    return steps


def _write_all_or_none(root: Root, steps: Sequence[_Step]) -> None:
    written: list[Edit] = []
    try:
        for step in steps:
            edit, path = step.edit, "/".join(step.edit.parts)
            written.append(edit)
            if edit.gone and step.whole:
                files.remove(root, path)
            else:
                files.write(root, path, edit.encoded(edit.text if step.whole else step.change.applied(step.chosen)))
    except BaseException:
        for edit in reversed(written):
            with contextlib.suppress(InterlockError):
                _put_back(root, edit)
        raise


def _put_back(root: Root, edit: Edit) -> None:
    path = "/".join(edit.parts)
    if edit.was is None:
        files.remove(root, path)
    else:
        files.write(root, path, edit.encoded(edit.old))


def _verb(edit: Edit) -> str:
    return "Delete" if edit.gone else "Edit" if edit.was else "Create"


def _named(edits: Sequence[Edit]) -> str:
    notes = {"Delete": " (deleted)", "Create": " (new)"}
    return ", ".join(f"{edit.path}{notes.get(_verb(edit), '')}" for edit in edits)


def _summary(step: _Step) -> str:
    edit = step.edit
    if edit.gone and step.whole:
        return f"Deleted {edit.path}."
    return f"{'Changed' if edit.was else 'Created'} {edit.path}{_lines_of(step)}."


def _lines_of(step: _Step) -> str:
    numbered = zip(step.hunks, step.change.pieces, strict=True)
    parts = [part for hunk, piece in numbered if hunk.number in step.chosen for part in piece]
    added = sum(part.new_end - part.new for part in parts)
    removed = sum(part.old_end - part.old for part in parts)
    return f": {counted(added, 'line')} added, {removed} removed" if parts else ": no difference"
