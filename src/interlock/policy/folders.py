"""The folders in which each command of a script may run.

A `cd` may fail, may not run at all (`||`, `&&`), or may run in a subshell (`|`, `bash -c`). So each command has a set
of possible folders, and it is harmless only if it is harmless in all of them.
"""

import os
from collections.abc import Iterable, Sequence

from interlock.policy.paths import CommandLocation
from interlock.policy.reading.shell_ast import FORMS, Command, ParsedScript, Step
from interlock.policy.reading.wrappers import program

Places = tuple[CommandLocation, ...]
Located = tuple[Command, Places]

MOST_FOLDERS = 16


def located(script: ParsedScript, start: CommandLocation) -> list[Located]:
    """Every command with all folders in which it may run."""
    found: list[Located] = []
    if script.steps:
        _follow(script.steps, (start,), found)
        return [*found, *((command, (start,)) for command in script.commands if program(command.words) in FORMS)]
    places: Places = (start,)
    for command in script.commands:  # not plain: any `cd` before it may be in effect
        found.append((command, places))
        if _changes_folder(command):
            places = _union(places, _moved(command, places))
    return found


def cd_objection(command: Command, places: Places) -> str | None:
    """The reason why the target of a `cd` is not known; None for all other commands."""
    if not _changes_folder(command):
        return None
    target = command.words[1].text if len(command.words) == 2 else ""
    if not target or target[0] in "-+~" or command.words[1].glob:
        return "cd leads elsewhere"
    # Without the project's own folder this is a first look, before its worktree is made.
    if not all(os.path.isdir(os.path.join(place.cwd, target)) for place in places if os.path.isdir(place.root)):
        return f"there is no folder {target}"
    return None


def order_objection(steps: Sequence[Step]) -> str | None:
    """After a `cd`, only `&&` and `|` may follow: what comes after a failed `cd` runs in an unexpected folder."""
    moved = False
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        if moved and not last and step.then not in ("&&", "|"):
            return f"what follows {step.then!r} runs in another folder if cd fails"
        if step.command is not None and _changes_folder(step.command):
            if not last and step.then != "&&":
                return "cd must be followed by &&"
            moved = True
        if step.script is not None and (why := order_objection(step.script.steps)):
            return why
    return None


def _follow(steps: Sequence[Step], begin: Places, found: list[Located]) -> None:
    """`after_success` and `after_failure`: the folders if the last command that ran succeeded, or failed."""
    after_success, after_failure = begin, Places()
    joined, number = ";", 0
    while number < len(steps):
        end = number
        while steps[end].then == "|" and end + 1 < len(steps):
            end += 1
        pipeline = steps[number : end + 1]
        match joined:
            case "&&":
                success, failure = _pipeline(pipeline, after_success, found)
                after_success, after_failure = success, _union(after_failure, failure)
            case "||":
                success, failure = _pipeline(pipeline, after_failure, found)
                after_success, after_failure = _union(after_success, success), failure
            case _:
                after_success, after_failure = _pipeline(pipeline, _union(after_success, after_failure), found)
        joined, number = pipeline[-1].then, end + 1


def _pipeline(steps: Sequence[Step], here: Places, found: list[Located]) -> tuple[Places, Places]:
    """The folders after success and after failure."""
    after = here
    for step in steps:
        if step.command is not None:
            found.append((step.command, here))
            if _changes_folder(step.command):
                moved = _moved(step.command, here)
                if len(steps) == 1 and not step.command.through:
                    return moved, here
                after = _union(after, moved)  # some shells run the last part of a pipeline themselves
        if step.script is not None:
            _follow(step.script.steps, here, found)
    return after, after


def _changes_folder(command: Command) -> bool:
    return program(command.words) == "cd"


def _moved(command: Command, places: Places) -> Places:
    if len(command.words) != 2:
        return places
    return _union((), (place.moved(command.words[1].text) for place in places))


def _union(places: Places, more: Iterable[CommandLocation]) -> Places:
    known = {(place.cwd, place.shown): place for place in (*places, *more)}
    return tuple(known.values())
