"""A prompt's steps as one test; each step is a test of its own, too."""

from collections.abc import Callable, Sequence

from interlock.domain.values.test_history import Assertion
from interlock.gui.drawing.recorded_widgets import Widgets
from interlock.uitest.actions import Actions, Begun, Result
from interlock.uitest.executions import Executions, Live
from interlock.uitest.input_driver import InputDriver
from interlock.uitest.prompts import PromptStep
from interlock.uitest.targets import Target, find, plain, read_target
from interlock.views.display import counted

_LOOK_S = 30.0
_TYPES = ("button", "checkbox", "row", "item", "input", "window", "text")


class Runner:
    def __init__(self, actions: Actions, driver: InputDriver, executions: Executions) -> None:
        self._actions = actions
        self._driver = driver
        self._executions = executions

    def run(self, prompt: str, steps: Sequence[PromptStep], *, begun: Begun, going: Callable[[], bool]) -> Result:
        """Run the steps in order until one fails or the caller disconnects."""
        live = self._executions.begin("run", f"Run: {plain(prompt)}")
        try:
            begun(live)
            return self._steps(live, steps, going)
        except Exception as error:
            if not live.ended.done():
                self._executions.end(live, "failed", f"it broke off: {type(error).__name__}: {error}")
            raise

    def _steps(self, live: Live, steps: Sequence[PromptStep], going: Callable[[], bool]) -> Result:
        live.start()
        assertions: list[Assertion] = []
        failure, late = "", False
        for number, step in enumerate(steps, 1):
            if not going():
                failure = f"the caller has disconnected before step {number} of {len(steps)}"
                break
            done = self._step(step, live.test_id)
            named = f"{number}. {step.do} {step.name}"
            assertions.append(
                Assertion(named, done.success, done.expected, done.actual, "" if done.success else done.message)
            )
            if not done.success:
                failure = f"step {number} of {len(steps)} ({step.do} {step.name!r}): {done.message} [{done.test_id}]"
                late = done.late
                break
        ended = self._executions.end(
            live,
            "timeout" if late else "failed" if failure else "passed",
            failure,
            assertions=tuple(assertions),
            metrics=(("steps", len(steps)), ("steps_done", len(assertions))),
        )
        message = failure or f"{counted(len(steps), 'step')} passed"
        return Result(not failure, message, live.test_id, ended.execution_time_ms, late=late)

    def _step(self, step: PromptStep, parent: str) -> Result:
        act = self._actions
        widgets = self._driver.widgets().result(_LOOK_S)
        match step.do:
            case "open":
                return act.click(str(target_named(widgets, step.name, ("window", *_TYPES))), parent=parent)
            case "click":
                return act.click(str(target_named(widgets, step.name, _TYPES)), parent=parent)
            case "type":
                target = str(target_named(widgets, step.name, ("input",)))
                return act.type(target, step.text, clear_first=True, parent=parent)
            case "wait" | "loads":
                target = target_named(widgets, step.name, ("window", *_TYPES))
                return act.wait(_visible(target), parent=parent)
            case "visible":
                return act.check(_visible(target_named(widgets, step.name, ("window", *_TYPES))), parent=parent)
            case "enabled":
                return act.check(f"element_enabled:{target_named(widgets, step.name, _TYPES)}", parent=parent)
            case "contains":
                return act.wait(f"text_contains:{text_target(widgets, step.name)}:{step.text}", parent=parent)
            case "equals":
                return act.wait(f"value_equals:{target_named(widgets, step.name, _VALUES)}:{step.text}", parent=parent)


_VALUES = ("input", "text", "checkbox", "button", "row", "item")


def target_named(widgets: Widgets, name: str, types: Sequence[str]) -> Target:
    """The target of a name: a written target, else the first type with such a label, else a key."""
    given = read_target(name)
    if given.type:
        return given
    for kind in types:
        target = Target(type=kind, label=name)
        match = find(widgets, target)
        if match.widget is not None or match.hidden:
            return target
    if find(widgets, given).widget is not None:
        return given
    return Target(type=types[0], label=name)


def text_target(widgets: Widgets, name: str) -> Target:
    """The target whose text is checked: a panel of that title goes before a widget of that label."""
    titles = {widget.label for widget in widgets.all() if widget.type == "window"}.union(widgets.hidden)
    return Target(type="window", label=name) if name in titles else target_named(widgets, name, (*_VALUES, "window"))


def _visible(target: Target) -> str:
    return f"window_visible:{target.label}" if target.type == "window" else f"element_visible:{target}"
