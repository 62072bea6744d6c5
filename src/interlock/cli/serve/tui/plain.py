"""`interlock tui --plain`: what changes as lines, and questions by line. For screen readers and simple terminals."""

import asyncio
import sys
import threading
from collections.abc import Sequence

from interlock.cli.serve.tui.args import TuiArgs
from interlock.cli.serve.tui.bench import TuiBench
from interlock.cli.terminal.asking.prompts import Prompts
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import say
from interlock.cli.terminal.progress import line_of
from interlock.cli.terminal.signals import end_in_order
from interlock.domain.messages.envelopes import Recorded
from interlock.domain.state.state import State
from interlock.views.board import track_rows
from interlock.views.display import counted, one_line, safe


class _Lines:
    """Prints each change once. Runs on the loop, which has a thread of its own: a question may block the main one."""

    def __init__(self, bench: TuiBench) -> None:
        self._bench = bench
        self.news = threading.Event()
        self._kept: list[str] = []

    def records(self, records: Sequence[Recorded]) -> None:
        for record in records:
            line = line_of(record, self._bench.state)
            if line is not None:
                self._kept.append(f"{record.at[11:19]}  {line[0]}")
        self.news.set()

    def text(self, key: str, piece: str) -> None:
        pass

    def ended(self, reason: str) -> None:
        self._kept.append(f"not connected: {safe(reason)}. The next try follows")
        self.news.set()

    def reopened(self) -> None:
        self._kept.append("connected again")
        self.news.set()

    def take(self) -> list[str]:
        lines, self._kept = self._kept, []
        return lines


def plain(args: TuiArgs) -> int:
    end_in_order()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="news", daemon=True).start()
    bench = TuiBench(args, loop)
    lines = _Lines(bench)
    bench.watch(lines)
    prompts = Prompts()
    try:
        for line in _overview(bench.state):
            say(line)
        bench.start()
        while True:
            for line in lines.take():
                say(safe(line))
            pending = bench.state.pending_approvals()
            if pending and prompts.possible:
                say(f"{counted(len(pending), 'question')} for you; Ctrl-C leaves")
                prompts.ask(bench.session, pending[0])
                continue
            if not pending and not sys.stdin.isatty() and not _works(bench.state):
                return DONE
            lines.news.wait()
            lines.news.clear()
    except KeyboardInterrupt:
        return DONE
    finally:
        bench.close()
        loop.call_soon_threadsafe(loop.stop)


def _overview(state: State) -> list[str]:
    rows = track_rows(state)
    head = f"{counted(len(rows), 'track')}, {counted(len(state.pending), 'question')} for you"
    return [
        head,
        *(
            f"  {row.id}: {one_line(row.title, 80)}: {row.status}, {row.progress.completed}/{row.progress.total} done"
            for row in rows
        ),
    ]


def _works(state: State) -> bool:
    return bool(state.busy or state.calls or state.running)
