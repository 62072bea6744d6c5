"""Targets and conditions: their syntax, finding the widget, evaluating the condition. No window is needed."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, get_args

from msgspec import Struct

from interlock.errors import BadValue
from interlock.gui.drawing.recorded_widgets import Type, Widget, Widgets

TYPES = get_args(Type)
_TYPED = re.compile(rf"(?:(?P<path>[^:]*)/)?(?P<type>{'|'.join(TYPES)}):(?P<label>.*)", re.DOTALL)
_ANY = ("…", "...", "*", "**")  # as part of a path: any number of parts
_NEAREST = 5
_MOST_SHOWN = 20_000  # characters of the actual text in a verdict
_TELLING = 3  # letters; shorter names are contained in most words

Check = Literal["window_visible", "element_visible", "element_enabled", "exists", "value_equals", "text_contains"]
CHECKS: tuple[str, ...] = get_args(Check)
_WITH_VALUE = ("value_equals", "text_contains")


class Target(Struct, frozen=True):
    """A key, or a type and a label, optionally with a window."""

    key: str = ""
    type: str = ""
    label: str = ""
    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.key or "/".join((*self.path, f"{self.type}:{self.label}"))


class Condition(Struct, frozen=True):
    check: str
    target: Target
    value: str = ""

    def __str__(self) -> str:
        return f"{self.check}:{self.target}" + (f":{self.value}" if self.check in _WITH_VALUE else "")


class MatchedWidget(Struct, frozen=True):
    """The widget of a target, and the number of other matches."""

    widget: Widget | None
    hidden: str = ""  # the title of a window behind others
    others: int = 0


class Verdict(Struct, frozen=True):
    holds: bool
    expected: str
    actual: str
    widget: Widget | None = None


def read_target(text: str, widget_key: str = "") -> Target:
    """Raises BadValue for an empty target."""
    if widget_key.strip():
        return Target(key=widget_key.strip())
    text = text.strip()
    if not text:
        raise BadValue("no target: give button:Label, input:Label, window:Title or a widget's key")
    match = _TYPED.fullmatch(text)
    if match is None:
        return Target(key=text)
    path = tuple(part.strip() for part in (match["path"] or "").split("/") if part.strip())
    if not match["label"].strip():
        raise BadValue(f"{text!r} names no label: write {match['type']}:Label")
    return Target(type=match["type"], label=match["label"].strip(), path=path)


def read_condition(text: str, widget_key: str = "") -> Condition:
    check, _, rest = text.strip().partition(":")
    check = check.strip()
    if check not in CHECKS:
        near = _near(check, CHECKS)
        raise BadValue(
            f"no condition {check!r}{f'; did you mean {near[0]}?' if near else ''}: there are {', '.join(CHECKS)}"
        )
    if check == "window_visible":
        title = widget_key.strip() or rest.strip().removeprefix("window:")
        if not title:
            raise BadValue("window_visible needs a title: window_visible:Inbox")
        return Condition(check, Target(type="window", label=title))
    if check not in _WITH_VALUE:
        return Condition(check, read_target(rest, widget_key))
    if widget_key.strip():
        return Condition(check, Target(key=widget_key.strip()), rest)
    typed = re.match(rf"(?:[^:]*/)?(?:{'|'.join(TYPES)}):", rest)
    start = typed.end() if typed else 0
    colon = rest.find(":", start)
    if colon < 0:
        raise BadValue(f"{check} needs a target and a value: {check}:KEY:VALUE")
    return Condition(check, read_target(rest[:colon]), rest[colon + 1 :])


def find(widgets: Widgets, target: Target) -> MatchedWidget:
    """The best match: visible and enabled widgets first."""
    if target.type == "window" or target.key.startswith("window."):
        title = plain(target.label or target.key.removeprefix("window.")).casefold()
        for name in widgets.hidden:
            if plain(name).casefold() == title:
                return MatchedWidget(None, hidden=name)
    if target.key:
        exact = [widget for widget in widgets.all() if widget.name == target.key]
        matches = exact or [widget for widget in widgets.all() if target.key == widget.key or target.key in widget.also]
    else:
        placed = [widget for widget in widgets.all() if widget.type == target.type and _inside(widget, target.path)]
        wanted = plain(target.label)
        matches = [widget for widget in placed if plain(widget.label) == wanted]
        matches = matches or [widget for widget in placed if plain(widget.label).casefold() == wanted.casefold()]
    matches.sort(key=lambda widget: (not widget.visible, not widget.enabled))
    return MatchedWidget(matches[0], others=len(matches) - 1) if matches else MatchedWidget(None)


def judge(widgets: Widgets, condition: Condition) -> Verdict:
    match = find(widgets, condition.target)
    widget, check = match.widget, condition.check
    if widget is None:
        hidden = bool(match.hidden)
        if check == "exists" and hidden:
            return Verdict(True, "there", "there, behind others")
        expected = _EXPECTED.get(check) or condition.value
        return Verdict(False, expected, "behind others" if hidden else "not there")
    match check:
        case "exists":
            return Verdict(True, "there", "there", widget)
        case "window_visible" | "element_visible":
            return Verdict(widget.visible, "visible", "visible" if widget.visible else "out of sight", widget)
        case "element_enabled":
            return Verdict(widget.enabled, "enabled", "enabled" if widget.enabled else "disabled", widget)
        case "value_equals":
            shown = text_of(widget)
            return Verdict(shown == condition.value, condition.value, shown, widget)
        case _:
            shown = widgets.text_in(widget.window) if widget.type == "window" else text_of(widget)
            return Verdict(condition.value in shown, condition.value, shown[:_MOST_SHOWN], widget)


_EXPECTED = {"exists": "there", "window_visible": "visible", "element_visible": "visible", "element_enabled": "enabled"}


def nearest(widgets: Widgets, target: Target) -> tuple[str, ...]:
    """The most similar names; widgets of the target's type rank higher."""
    wanted = (target.key or target.label).casefold()
    names: dict[str, float] = {}
    for widget in widgets.all():
        name = widget.name if target.key else f"{widget.type}:{plain(widget.label)}"
        likeness = max(_similarity(wanted, word) for word in (widget.key, widget.name, plain(widget.label)))
        bonus = 0.25 if target.type and widget.type == target.type else 0.0
        names[name] = max(names.get(name, 0.0), likeness + bonus)
    for window in widgets.hidden:
        names[f"window:{window}"] = _similarity(wanted, window)
    ranked = sorted(names, key=lambda name: (-names[name], name))
    return tuple(ranked[:_NEAREST])


def text_of(widget: Widget) -> str:
    """The text of a widget: the value of an input or checkbox, else value or label."""
    return widget.value if widget.type in ("input", "checkbox") else widget.value or plain(widget.label)


def path_of(widget: Widget) -> str:
    """The widget's path, which is a valid target."""
    scope = widget.name.partition("@")[2]
    middle = f"{scope.replace('/', '.')}/" if scope else ""
    return f"{widget.window}/{middle}{widget.type}:{plain(widget.label)}"


def plain(label: str) -> str:
    """The label without icon symbols, with single spaces."""
    return " ".join("".join(letter for letter in label if not 0xE000 <= ord(letter) <= 0xF8FF).split())


def tree(widgets: Widgets) -> str:
    """All widgets, one line each: the evidence of a failure when no screenshot is possible."""
    lines: list[str] = []
    window = None
    for widget in widgets.all():
        if widget.window != window:
            window = widget.window
            lines.append(window)
        marks = "".join(
            mark for mark, on in ((" (disabled)", not widget.enabled), (" (out of sight)", not widget.visible)) if on
        )
        value = f" = {widget.value[:80]!r}" if widget.value and widget.value != widget.label else ""
        lines.append(f"  {widget.type}:{plain(widget.label)[:80]} [{widget.name}]{value}{marks}")
    lines += [f"{name} (behind others)" for name in widgets.hidden]
    return "\n".join(lines)


def _inside(widget: Widget, path: Sequence[str]) -> bool:
    parts = [part for part in path if part not in _ANY]
    if not parts:
        return True
    scope = widget.name.partition("@")[2].replace("/", ".")
    places = [plain(widget.window).casefold(), scope.casefold()]
    return all(plain(part).casefold() in places for part in parts)


def _similarity(wanted: str, name: str) -> float:
    name = name.casefold()
    if (wanted and wanted in name) or (len(name) >= _TELLING and name in wanted):
        return 0.8 + 0.2 * min(len(wanted), len(name)) / max(len(wanted), len(name), 1)
    return SequenceMatcher(None, wanted[:80], name[:80]).ratio()


def _near(word: str, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(word, known, n=1, cutoff=0.5)
