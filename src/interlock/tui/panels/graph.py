"""Graph: the tickets of a track as a tree. Each stands below the last ticket that it waits for."""

from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from interlock.domain.state.schedule import current
from interlock.domain.state.tracks import Track
from interlock.tui.colours import Colours
from interlock.tui.lines.line_list import LineList
from interlock.tui.lines.rows import EMPTY, Row, Span, row
from interlock.tui.panels.panel import Panel
from interlock.tui.panels.ticket_rows import ticket_row
from interlock.tui.picture import Picture
from interlock.views.display import counted, one_line
from interlock.views.outlook.forecast import forecast_text
from interlock.views.ticket_graph import ticket_graph

_DEEPEST = 14  # levels that are indented


class Branch(Struct, frozen=True, gc=False):
    """A ticket in the tree: its lines to the left, and what else it waits for."""

    name: str
    lead: str
    besides: tuple[str, ...]
    critical: bool


def branches(track: Track) -> tuple[Branch, ...]:
    """Every ticket once, parents before children; tickets on one longest chain are critical."""
    graph = ticket_graph(track)
    depth = {name: column for name, (column, _) in graph.places.items()}
    position = {name: at for at, name in enumerate(track.order)}
    critical = {name for edge in graph.longest for name in edge}
    children: dict[str, list[str]] = {"": []}
    for name in track.order:
        needs = [need for need in track.tickets[name].spec.depends_on if need in depth]
        # A critical ticket stands below the critical one before it, so that the path is one line of the tree.
        parent = max(needs, key=lambda one: ((one, name) in graph.longest, depth[one], -position[one]), default="")
        children.setdefault(parent, []).append(name)
    found: list[Branch] = []
    open_: list[tuple[str, str, str, int]] = [(name, "", "", 0) for name in reversed(children[""])]
    while open_:  # without recursion: a chain may be 10,000 tickets long
        name, lead, own, level = open_.pop()
        needs = track.tickets[name].spec.depends_on
        parent = next((one for one in needs if name in children.get(one, ())), "")
        found.append(Branch(name, lead + own, tuple(one for one in needs if one != parent), name in critical))
        below = children.get(name, [])
        deeper = lead if level >= _DEEPEST else lead + {"": "", "├ ": "│ ", "└ ": "  "}[own]
        for number, child in reversed(list(enumerate(below))):
            open_.append((child, deeper, "└ " if number == len(below) - 1 else "├ ", level + 1))
    return tuple(found)


class GraphLines(LineList):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", show=False)]

    def __init__(self, colours: Colours, picture: Picture) -> None:
        super().__init__(colours, id="graph-lines")
        self._picture = picture
        self._made_for: object = None
        self._branches: tuple[Branch, ...] = ()

    def renew(self) -> None:
        track = self._picture.track
        if track is None:
            self._made_for, self._branches = None, ()
        else:
            # The schedule keeps this map while no dependency changes: the tree is made once per structure.
            dependants = current(track.schedule, track.order, track.tickets).dependants
            made_for = (track.id, track.order, dependants)
            if self._made_for != made_for:
                self._made_for, self._branches = made_for, branches(track)
        self.changed()

    @property
    def chosen(self) -> str:
        return self._branches[self.cursor].name if self.cursor < len(self._branches) else ""

    def count(self) -> int:
        return len(self._branches)

    def row_at(self, index: int, width: int) -> Row:
        track = self._picture.track
        branch = self._branches[index]
        if track is None or branch.name not in track.tickets:
            return EMPTY
        shown = ticket_row(self._picture, track, track.tickets[branch.name], width, branch.lead)
        spans = list(shown.spans)
        spans[0] = Span(branch.lead, "accent" if branch.critical else "faint", bold=branch.critical)
        if branch.critical:
            spans.insert(2, Span("◆ ", "accent"))
        if branch.besides:
            names = ", ".join(branch.besides[:3]) + (" …" if len(branch.besides) > 3 else "")
            spans.insert(-1, Span(f"← {names}  ", "planner"))
        return row(*spans, right=shown.right)

    def action_open(self) -> None:
        self.post_message(self.Opened(self))


class Graph(Panel):
    label = "Graph"
    keys = (("Enter", "open"), ("◆", "critical path"), ("←", "also waits for"))

    def compose(self) -> ComposeResult:
        self.list = GraphLines(self.colours, self.picture)
        yield self.list

    def draw(self) -> None:
        self.list.renew()
        track = self.picture.track
        if track is None:
            self.show_title("Graph", "no track yet: n on the board plans a goal")
            return
        forecast = self.picture.outlook.forecast
        beside = forecast_text(forecast) if forecast is not None else counted(track.total, "ticket")
        self.show_title(f"Graph  {one_line(track.title or track.id, 60)}", beside)

    def tick(self) -> None:
        self.list.refresh()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        track = self.picture.track
        if track is not None and self.list.chosen in track.tickets:
            self.shell.show_ticket(track.id, self.list.chosen)
