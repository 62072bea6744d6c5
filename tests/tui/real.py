"""The terminal workbench on a real project in this process, driven by keys."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from interlock.cli.serve.tui.args import TuiArgs
from interlock.cli.serve.tui.bench import TuiBench
from interlock.tui.app import Workbench
from interlock.tui.bench import Bench
from tests.cli.project import Project
from tests.tui.still import Screen


def tui_args(project: Project, rules: list[dict[str, Any]] | None = None, provider: str | None = None) -> TuiArgs:
    script = project.tickets("rules.json", {"rules": rules}) if rules is not None else None
    provider = "scripted" if rules is not None else provider
    return TuiArgs(str(project.root), provider, None, script, None, None, False, None, None, False)


@asynccontextmanager
async def opened(args: TuiArgs, size: tuple[int, int] = (100, 40)) -> AsyncGenerator[Screen]:
    async def opening() -> Bench:
        loop = asyncio.get_running_loop()
        bench = await asyncio.to_thread(TuiBench, args, loop)
        bench.start()
        return bench

    app = Workbench(opening, pause_s=0.02)
    try:
        async with app.run_test(size=size) as pilot:
            screen = Screen(app, pilot)
            await screen.until(lambda: not app.picture.lost or app.failure, "the project is open")
            await pilot.pause()
            yield screen
    finally:
        if app.bench is not None:
            await asyncio.to_thread(app.bench.close)
