"""The terminal workbench on real projects: held here, or by another process that may be killed."""

import os
import signal
from typing import Any

from msgspec.structs import replace

from interlock.domain.values.approvals import Answered
from interlock.tui.inbox.inbox import Inbox
from tests.cli.epic import rule
from tests.cli.project import Project, shell
from tests.tui.real import opened, tui_args
from tests.tui.still import Screen, run

TALK: list[dict[str, Any]] = [rule("", reply="# Hello\n\nI am **the model**, and `a.txt` has three lines.")]


async def chosen(screen: Screen, approval: str) -> None:
    """The inbox shows this approval, long enough to answer it."""
    inbox = screen.app.query_one(Inbox)
    await screen.until(lambda: any(one.first.id == approval for one in screen.app.picture.groups), approval)
    at = next(at for at, one in enumerate(screen.app.picture.groups) if one.first.id == approval)
    inbox.list.select(at)
    await screen.until(lambda: (now := inbox.shown()) is not None and now.id == approval, approval)
    await screen.glance()


def plan(project: Project, *tickets: dict[str, Any]) -> None:
    result = project.run("tracks", "import", project.tickets("demo.json", list(tickets)))
    assert result.code == 0, result


def test_a_track_is_started_approved_edited_and_done_by_keys(project: Project) -> None:
    plan(project, shell("T-1", "echo one > one.txt", verify=["test -f one.txt"]), shell("T-2", "echo two > two.txt"))

    async def test() -> None:
        async with opened(replace(tui_args(project), auto_queue=True)) as screen:
            bench = screen.app.bench
            assert bench is not None
            bench.edit = lambda text, suffix: "echo 2 > two.txt\n"  # pyright: ignore[reportAttributeAccessIssue]
            await screen.press("2", "S")
            await screen.until(lambda: screen.app.picture.pending, "it asks")
            await screen.press("1")
            for _ in range(2):
                await screen.until(lambda: screen.app.picture.pending, "it asks")
                asked = screen.app.picture.pending[0]
                await chosen(screen, asked.id)
                if asked.ticket == "T-2":
                    await screen.press("e")
                    await screen.shows("Approve edited")
                await screen.press("a")
                await screen.settle()
                await screen.until(lambda asked=asked: isinstance(bench.state.approvals[asked.id].state, Answered))
            track = next(iter(bench.state.tracks))
            await screen.until(lambda: bench.state.tracks[track].status == "done", "the track is done")
            await screen.press("2")
            await screen.shows("✓ T-1", "2/2")
            answers = [one.state for one in bench.state.approvals.values() if isinstance(one.state, Answered)]
            assert sorted(one.edited or "" for one in answers) == ["", "echo 2 > two.txt\n"]

    run(test())
    project.check_whole()


def test_a_discussion_is_written_answered_and_shown_as_markdown(project: Project) -> None:
    async def test() -> None:
        async with opened(tui_args(project, TALK)) as screen:
            await screen.press("5", "enter")
            await screen.type("hello [red]you[/red]")
            await screen.press("enter")
            await screen.shows("hello [red]you[/red]", "I am the model, and a.txt has three lines.")
            await screen.press("escape", "6")
            await screen.shows("Discussion", "Spent by tier")

    run(test())


def test_another_process_holds_the_project_wins_a_race_and_is_killed(project: Project) -> None:
    plan(project, shell("T-1", "echo one > one.txt"), shell("T-2", "echo two > two.txt"))
    holder = project.start("serve", "--port", "0", "--auto-queue")
    assert holder.stdout is not None
    assert "serving" in holder.stdout.readline()

    async def test() -> None:
        async with opened(tui_args(project)) as screen:
            bench = screen.app.bench
            assert bench is not None
            assert (bench.holder.here, bench.holder.pid) == (False, holder.pid)
            await screen.shows("attached to")
            await screen.press("2", "S")
            await screen.until(lambda: len(screen.app.picture.pending) == 2, "both ask")
            await screen.press("1")
            first, second = sorted(one.id for one in screen.app.picture.pending)
            await chosen(screen, first)
            screen.app.send.pause_s = 600
            await screen.press("a")
            held = screen.app.send.held
            assert held is not None
            other = project.run("approvals", "answer", first, "reject")
            assert other.code == 0, other
            held.act()  # the moment in which both answer
            await screen.shows("already answered")
            screen.app.send.take_back()
            screen.app.send.pause_s = 0.02
            os.kill(holder.pid, signal.SIGKILL)
            holder.wait()
            await screen.until(lambda: bench.holder.here, "this process takes the project over")
            await screen.shows("this process holds the project now")
            await screen.until(lambda: screen.app.picture.pending, "the question is asked again")
            asked = screen.app.picture.pending[0].id
            await chosen(screen, asked)
            await screen.press("a")
            await screen.settle()
            await screen.until(lambda: isinstance(bench.state.approvals[asked].state, Answered), "it is answered")
            assert second in bench.state.approvals

    try:
        run(test())
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_a_project_that_is_none_yet_is_an_error_with_what_to_do(project: Project) -> None:
    args = tui_args(project)

    async def test() -> None:
        async with opened(replace(args, project=str(project.home))) as screen:
            assert screen.app.failure is not None
            assert "interlock init" in str(screen.app.failure)

    run(test())


def test_the_process_that_holds_the_project_takes_a_landing_back_and_makes_it_again(project: Project) -> None:
    file = project.tickets("demo.json", [shell("T-1", "echo x >> a.txt")])
    assert project.run("run", "--tickets", file, "--approve", "all", "--land").code == 0
    landed = project.git("rev-parse", "HEAD")

    async def test() -> None:
        async with opened(tui_args(project)) as screen:
            bench = screen.app.bench
            assert bench is not None
            plan = await bench.undo_plan(redo=False)
            done = await bench.undo(plan)
            assert (done.redo, project.git("rev-parse", "HEAD")) == (False, project.git("rev-parse", f"{landed}~1"))
            assert (project.root / "a.txt").read_text() == "one\ntwo\nthree\n"
            await bench.undo(await bench.undo_plan(redo=True))
            assert project.git("rev-parse", "HEAD") == landed

    run(test())
    project.check_whole()
