"""Tickets: the graph of the track in view, in layers from left to right. Drag moves, the wheel zooms, a click selects.

Only visible tickets are drawn. At a small zoom a ticket is a coloured spot; smaller still, several tickets share one.
"""

from imgui_bundle import imgui

from interlock.domain.state.tracks import Track
from interlock.domain.values.tickets import Ticket
from interlock.gui.data.frame import Frame
from interlock.gui.data.sending import Sender
from interlock.gui.drawing import symbols
from interlock.gui.drawing.text_widgets import fitted, tooltip
from interlock.gui.drawing.theme import NORMAL, SMALL
from interlock.gui.drawing.ticket_view import draw_ticket, draw_welcome
from interlock.gui.drawing.widgets import FLAT, Ui
from interlock.views.display import counted, one_line
from interlock.views.ticket_graph import TicketGraph, ticket_graph

_W, _H = 130.0, 50.0  # size of a ticket at zoom 1
_STEP_X, _STEP_Y = 162.0, 66.0
_NEAREST, _FURTHEST = 1.6, 0.02
_SMALLEST = 10.5  # font size; smaller text is unreadable and not drawn
_NAMED, _TOLD = 0.45, 0.72  # the least zoom for a ticket's name, and for its description
_TINY = 0.1  # the zoom at which a ticket is a dot; a long graph is then followed instead of fitted
_MOST_SPOTS = 1_200  # tickets drawn one by one; above that they are grouped
_MOST_EDGES = 900
_WORST = ("bad", "waiting", "running", "good", "faint")

Point = imgui.ImVec2


class GraphPanel:
    name = "Tickets"
    tabs = ("graph",)

    def __init__(self) -> None:
        self._graph: TicketGraph | None = None
        self._layout_key: tuple[str, int, tuple[str, ...]] = ("", 0, ())
        self._specs: list[object] = []
        self._edges_of: dict[str, list[tuple[str, str]]] = {}
        self._zoom = 1.0
        self._x, self._y = 0.0, 0.0  # the middle of the view, in graph coordinates
        self._fitted: tuple[int, int] | None = None  # fitted for this size; None: not fitted yet
        self._by_hand = False  # the user has moved or zoomed: no automatic fitting
        self._followed = -1  # in a graph too long to fit: the column of the current work
        self._followed_at = -1  # the version for which it was computed
        self._chosen = ""
        self._in_sight = ""
        self._search = ""
        self._joined: tuple[object, list[tuple[float, float, float, float, str]]] = (None, [])

    def draw(self, ui: Ui, frame: Frame, send: Sender) -> None:
        track = frame.track
        if track is None:
            draw_welcome(ui, frame)
            return
        graph = self._laid_out(track, frame.version)
        self._draw_head(ui, track, graph)
        if not graph.places:
            words = "The tickets are being planned." if not track.planned else "This track has no tickets."
            ui.empty(words)
            return
        ticket = track.tickets.get(self._chosen)
        room = imgui.get_content_region_avail()
        if ticket is None:
            self._draw_canvas(ui, track, graph, frame.version)
            return
        beside = room.x > 560
        imgui.begin_child("canvas", Point(room.x - 288, 0) if beside else Point(0, room.y * 0.4))
        self._draw_canvas(ui, track, graph, frame.version)
        imgui.end_child()
        if beside:
            imgui.same_line()
        imgui.begin_child("ticket", Point(0, 0), imgui.ChildFlags_.borders.value | FLAT)
        draw_ticket(ui, track, ticket, send)
        imgui.end_child()

    def _laid_out(self, track: Track, version: int) -> TicketGraph:
        """The layout, computed again only if tickets or dependencies have changed."""
        if self._graph is not None and self._layout_key == (track.id, version, track.order):
            return self._graph
        specs: list[object] = [track.tickets[name].spec for name in track.order]
        same = self._graph is not None and len(specs) == len(self._specs)
        if not same or any(new is not old for new, old in zip(specs, self._specs, strict=True)):
            if self._layout_key[0] != track.id:
                self._fitted, self._by_hand, self._chosen = None, False, ""
            self._graph = ticket_graph(track)
            self._edges_of = {}
            for edge in self._graph.edges:
                for name in edge:
                    self._edges_of.setdefault(name, []).append(edge)
        self._specs = specs
        self._layout_key = (track.id, version, track.order)
        assert self._graph is not None
        return self._graph

    def _draw_head(self, ui: Ui, track: Track, graph: TicketGraph) -> None:
        room = imgui.get_content_region_avail().x - 220  # without the controls at the right
        imgui.push_font(ui.look.bold, NORMAL)
        ui.text(fitted(one_line(track.title or track.id, 70), room - 160 if room > 240 else room))
        imgui.pop_font()
        if room > 240:
            imgui.same_line(0, 12)
            ui.small(f"{counted(track.total, 'ticket')}, {counted(len(graph.edges), 'edge')}")
        imgui.push_font(ui.look.regular, SMALL)
        imgui.push_style_var(imgui.StyleVar_.frame_padding.value, Point(8, 2))
        imgui.same_line(max(0.0, imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x - 212))
        written = ui.input("graph.search", self._search, label="search", hint="search", width=140)
        if written is not None:
            self._search = written
            self._find_ticket(track, graph)
        imgui.same_line(0, 6)
        if ui.button("graph.fit", "fit", weight="quiet"):
            self._fitted, self._by_hand = None, False
        imgui.same_line(0, 0)
        if ui.button("graph.near", "1:1", weight="quiet"):
            self._zoom, self._by_hand = 1.0, True
        imgui.pop_style_var()
        imgui.pop_font()
        ui.rule()

    def _find_ticket(self, track: Track, graph: TicketGraph) -> None:
        wanted = self._search.strip().lower()
        for name in track.order if wanted else ():
            if wanted in name.lower() or wanted in track.tickets[name].spec.description.lower():
                column, row = graph.places[name]
                self._x, self._y = column * _STEP_X + _W / 2, row * _STEP_Y
                self._zoom, self._by_hand = max(self._zoom, 0.8), True
                self._chosen = name
                return

    # ── the picture ──────────────────────────────────────────────────────────────────────

    def _draw_canvas(self, ui: Ui, track: Track, graph: TicketGraph, version: int) -> None:
        at, room = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail()
        if room.x < 20 or room.y < 20:
            return
        imgui.invisible_button("graph", room)
        ui.note("graph.canvas", "graph", "item")
        if self._chosen:
            self._scroll_to_chosen(graph, room)  # its details take room beside it; do not zoom out for them
        elif self._fitted != (int(room.x), int(room.y)) and not self._by_hand:
            self._fit(track, graph, room)
        elif self._followed >= 0 and not self._by_hand and self._followed_at != version:
            self._followed_at = version
            self._follow(track, graph)
        self._move(at, room)
        draw = imgui.get_window_draw_list()
        end = Point(at.x + room.x, at.y + room.y)
        draw.push_clip_rect(at, end, True)
        self._draw_graph(ui, draw, track, graph, version, at, room)
        draw.pop_clip_rect()

    def _fit(self, track: Track, graph: TicketGraph, room: Point) -> None:
        self._fitted, self._followed = (int(room.x), int(room.y)), -1
        wide = (len(graph.columns) - 1) * _STEP_X + _W
        high = max(1, graph.rows) * _STEP_Y
        self._x, self._y = wide / 2, 0.0
        whole = min(1.0, (room.x - 24) / wide, (room.y - 24) / high)
        self._zoom = max(_FURTHEST, whole)
        if whole < _TINY and high * _NAMED <= room.y - 24:
            self._zoom = _NAMED
            self._follow(track, graph)

    def _follow(self, track: Track, graph: TicketGraph) -> None:
        """Centre the first unfinished column, when it changes."""
        front = len(graph.columns) - 1
        for number, column in enumerate(graph.columns):
            if any(track.tickets[name].status not in ("completed", "cancelled") for name in column.names):
                front = number
                break
        if front != self._followed:
            self._followed, self._x = front, front * _STEP_X + _W / 2

    def _scroll_to_chosen(self, graph: TicketGraph, room: Point) -> None:
        if self._in_sight == self._chosen or self._chosen not in graph.places:
            return
        self._in_sight = self._chosen
        column, row = graph.places[self._chosen]
        x, y = column * _STEP_X + _W / 2, row * _STEP_Y
        half_x, half_y = room.x / 2 / self._zoom - _W, room.y / 2 / self._zoom - _H
        self._x = min(max(self._x, x - half_x), x + half_x) if half_x > 0 else x
        self._y = min(max(self._y, y - half_y), y + half_y) if half_y > 0 else y

    def _move(self, at: Point, room: Point) -> None:
        if imgui.is_item_active() and imgui.is_mouse_dragging(imgui.MouseButton_.left.value, 3):
            moved = imgui.get_io().mouse_delta
            self._by_hand = self._by_hand or bool(moved.x or moved.y)
            self._x -= moved.x / self._zoom
            self._y -= moved.y / self._zoom
        if imgui.is_item_hovered() and (wheel := imgui.get_io().mouse_wheel):
            mouse = imgui.get_mouse_pos()
            dx, dy = mouse.x - at.x - room.x / 2, mouse.y - at.y - room.y / 2
            before, self._by_hand = self._zoom, True
            self._zoom = min(_NEAREST, max(_FURTHEST, self._zoom * (1.15**wheel)))
            self._x += dx / before - dx / self._zoom  # the point under the mouse stays there
            self._y += dy / before - dy / self._zoom

    def _draw_graph(
        self, ui: Ui, draw: imgui.ImDrawList, track: Track, graph: TicketGraph, version: int, at: Point, room: Point
    ) -> None:
        zoom = self._zoom
        left, top = self._x - room.x / 2 / zoom, self._y - room.y / 2 / zoom
        right, bottom = left + room.x / zoom, top + room.y / zoom
        first = max(0, int((left - _W) // _STEP_X) + 1)
        last = min(len(graph.columns), int(right // _STEP_X) + 1)
        seen: list[tuple[str, float, float]] = []
        total = 0
        for number in range(first, last):
            column = graph.columns[number]
            low = max(0, int((top - _H) / _STEP_Y - column.top))
            high = min(len(column.names), int((bottom + _H) / _STEP_Y - column.top) + 1)
            total += max(0, high - low)
            if total <= _MOST_SPOTS:
                x = at.x + (number * _STEP_X - left) * zoom
                seen += [
                    (column.names[row], x, at.y + ((column.top + row) * _STEP_Y - _H / 2 - top) * zoom)
                    for row in range(low, high)
                ]
        if total > _MOST_SPOTS:
            self._draw_groups(ui, draw, track, graph, version, at, (left, top, right, bottom))
            return
        self._draw_edges(ui, draw, graph, [name for name, _, _ in seen], at, left, top)
        mouse = imgui.get_mouse_pos() if imgui.is_item_hovered() else Point(-1e9, -1e9)
        wide, high = _W * zoom, _H * zoom
        for name, x, y in seen:
            ticket = track.tickets[name]
            self._draw_node(ui, draw, ticket, x, y)
            if x <= mouse.x < x + wide and y <= mouse.y < y + high:
                self._under_mouse(ticket)

    def _draw_node(self, ui: Ui, draw: imgui.ImDrawList, ticket: Ticket, x: float, y: float) -> None:
        look, zoom = ui.look, self._zoom
        role, symbol = symbols.of_ticket(ticket)
        colour = look.by_role[role]
        wide, high = _W * zoom, _H * zoom
        low, end = Point(x, y), Point(x + wide, y + high)
        name = ticket.spec.id
        if zoom < 0.34:
            draw.add_rect_filled(low, end, colour if role != "faint" else look.line, 2 * zoom)
        else:
            draw.add_rect_filled(low, end, look.raised, 5 * zoom)
            draw.add_rect_filled(low, Point(x + 4 * zoom, y + high), colour, 3 * zoom)
            draw.add_rect(low, end, colour if role != "faint" else look.line, 5 * zoom, 1.5 if role != "faint" else 1.0)
            inside = imgui.ImVec4(x, y, x + wide - 20 * zoom, y + high)
            if zoom >= _NAMED:
                place, size = Point(x + 12 * zoom, y + 7 * zoom), max(_SMALLEST, NORMAL * zoom)
                words = _within(look.bold, size, look.drawable(one_line(name, 18)), wide - 32 * zoom)
                draw.add_text(look.bold, size, place, look.text, words, 0, inside)
            draw.add_text(look.regular, SMALL * zoom, Point(x + wide - 18 * zoom, y + 8 * zoom), colour, symbol)
            if zoom >= _TOLD:
                inside = imgui.ImVec4(x, y, x + wide - 4 * zoom, y + high)
                place = Point(x + 12 * zoom, y + 28 * zoom)
                size = max(_SMALLEST, SMALL * zoom)
                words = look.drawable(one_line(ticket.spec.description, 24))
                words = _within(look.regular, size, words, wide - 16 * zoom)
                draw.add_text(look.regular, size, place, look.dim, words, 0, inside)
        if name == self._chosen:
            draw.add_rect(Point(x - 3, y - 3), Point(x + wide + 3, y + high + 3), look.accent, 7 * zoom, 1.5)
        ui.note_at("graph.ticket", name, "item", (x, y, x + wide, y + high), scope=name, value=ticket.status)

    def _under_mouse(self, ticket: Ticket) -> None:
        name = ticket.spec.id
        if imgui.is_mouse_released(imgui.MouseButton_.left.value) and not _dragged():
            self._chosen, self._in_sight = ("" if self._chosen == name else name), ""
        tooltip(f"{name}  {ticket.status}\n{one_line(ticket.spec.description, 90)}")

    def _draw_edges(
        self, ui: Ui, draw: imgui.ImDrawList, graph: TicketGraph, seen: list[str], at: Point, left: float, top: float
    ) -> None:
        look, zoom = ui.look, self._zoom
        drawn = 0
        many = len(seen) > 400
        bright: list[tuple[Point, Point]] = []
        if many:
            edges = dict.fromkeys((*graph.longest, *self._edges_of.get(self._chosen, ())))
        else:
            edges = dict.fromkeys(edge for name in seen for edge in self._edges_of.get(name, ()))  # each once
        for edge in edges:
            source, target = edge
            chosen = self._chosen in edge
            special = edge in graph.longest
            (a, b), (c, d) = graph.places[source], graph.places[target]
            start = Point(at.x + (a * _STEP_X + _W - left) * zoom, at.y + (b * _STEP_Y - top) * zoom)
            end = Point(at.x + (c * _STEP_X - left) * zoom, at.y + (d * _STEP_Y - top) * zoom)
            if special or chosen:
                bright.append((start, end))
                continue
            drawn += 1
            if drawn > _MOST_EDGES:
                break
            bend = max(12.0, (end.x - start.x) / 2)
            draw.add_bezier_cubic(
                start, Point(start.x + bend, start.y), Point(end.x - bend, end.y), end, look.line, 1.5
            )
        for start, end in bright:
            if zoom < 0.34:
                draw.add_line(start, end, look.accent, 1.5)
                continue
            bend = max(12.0, (end.x - start.x) / 2)
            draw.add_bezier_cubic(
                start, Point(start.x + bend, start.y), Point(end.x - bend, end.y), end, look.accent, 2.0
            )

    def _draw_groups(
        self,
        ui: Ui,
        draw: imgui.ImDrawList,
        track: Track,
        graph: TicketGraph,
        version: int,
        at: Point,
        sight: tuple[float, float, float, float],
    ) -> None:
        """Groups of tickets of a column as blocks, each in the most urgent colour of its tickets."""
        left, top, right, bottom = sight
        zoom = self._zoom
        group = max(2, -(-len(track.order) // 1_000), int(5 / (_STEP_Y * zoom)))
        if self._joined[0] != (id(graph), version, group):
            blocks: list[tuple[float, float, float, float, str]] = []
            for number, column in enumerate(graph.columns):
                for start in range(0, len(column.names), group):
                    roles = {symbols.of_ticket(track.tickets[name])[0] for name in column.names[start : start + group]}
                    role = next(role for role in _WORST if role in roles)
                    size = min(group, len(column.names) - start)
                    y = (column.top + start) * _STEP_Y - _H / 2
                    blocks.append((number * _STEP_X, y, number * _STEP_X + _W, y + size * _STEP_Y - 16, role))
            self._joined = ((id(graph), version, group), blocks)
        look = ui.look
        for x0, y0, x1, y1, role in self._joined[1]:
            if x1 < left or x0 > right or y1 < top or y0 > bottom:
                continue
            low = Point(at.x + (x0 - left) * zoom, at.y + (y0 - top) * zoom)
            end = Point(at.x + (x1 - left) * zoom, max(low.y + 2, at.y + (y1 - top) * zoom))
            draw.add_rect_filled(low, end, look.by_role[role] if role != "faint" else look.line)


def _within(font: imgui.ImFont, size: float, words: str, wide: float) -> str:
    """The part of the text that fits at this font and size."""
    imgui.push_font(font, size)
    fitting = fitted(words, wide)
    imgui.pop_font()
    return fitting


def _dragged() -> bool:
    moved = imgui.get_mouse_drag_delta(imgui.MouseButton_.left.value, 3)
    return bool(moved.x or moved.y)
