"""From sending an answer to the start of the approved work, the answer on disk; compared with LangGraph."""

import asyncio
import time
from functools import partial
from statistics import median, quantiles

from benchmarks.engine import ACTOR, FixedPolicy, opened, until
from benchmarks.samples import Data, Unavailable, alternating, folder, say, take
from benchmarks.table import Row, at_most, seconds, times
from interlock.domain.messages.commands.approval_commands import AnswerApproval
from interlock.domain.messages.commands.track_commands import AddTrack, StartTrack
from interlock.domain.values.approvals import ScriptPayload
from interlock.domain.values.tickets import TicketSpec
from interlock.ports.work import Assignment, Done, Failed, LastCheck, Prepared

GROUP = "approval"
P50_S, P99_S = 0.003, 0.020
OURS = "Interlock"
PEER = "LangGraph, interrupt + resume, SqliteSaver"


def rows(*, quick: bool) -> list[Row]:
    count, repeat = (200, 1) if quick else (1_000, 3)
    say(f"approval: {count:,} answers, one after the other")
    takes = {OURS: partial(_take, "benchmarks.approval:answers", count), PEER: partial(_take, PEERS, count)}
    samples = alternating(takes, repeat)
    ours, peer_samples = samples[OURS], samples[PEER]
    if isinstance(ours, Unavailable):
        raise ours
    what = f"answer sent → work runs, answer fsynced; {count:,} pending, answered one by one"
    result_rows: list[Row] = []
    for name, pick, limit in (("p50", median, P50_S), ("p99", _p99, P99_S)):
        took = median(pick(one["waits"]) for one in ours)
        row = Row(GROUP, f"{what}: {name}", seconds(took), reach=f"< {seconds(limit)}")
        row.value, row.ok = at_most(limit, took)
        row.note = (
            f"wall time, median of {repeat} runs in turns; LangGraph (durability='sync') until its node has the answer"
        )
        result_rows.append(row)
        if isinstance(peer_samples, Unavailable):
            result_rows.append(Row(GROUP, f"{what}: {name}", seconds(took), f"{PEER}: not available: {peer_samples}"))
            continue
        peer = median(pick(one["waits"]) for one in peer_samples)
        beside = Row(GROUP, f"{what}: {name}", seconds(took), f"{PEER}: {seconds(peer)}", times(took / peer), "< 1×")
        beside.value, beside.ok = at_most(1.0, took / peer)
        result_rows.append(beside)
    return result_rows


PEERS = "benchmarks.peers:langgraph_approvals"


def _take(target: str, count: int) -> Data:
    with folder() as place:
        return take(target, folder=place, count=count, limit_s=300)


def _p99(waits: list[float]) -> float:
    return quantiles(waits, n=100)[98]


# ── in a separate process ────────────────────────────────────────────────────────────────


class Begins:
    """A crew that records the start time of each ticket's work."""

    _terms = ScriptPayload("true", "/", (), "off")

    def __init__(self) -> None:
        self.began: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def prepare(self, assignment: Assignment) -> Prepared:
        return Prepared(self._terms, self._run)

    async def make_ready(self, assignment: Assignment) -> Failed | None:
        return None

    async def _run(self, approved: str, last_check: LastCheck | None) -> Done:
        self.began.set_result(time.perf_counter())
        return Done(None)


def answers(folder: str, count: int) -> Data:
    return asyncio.run(_answers(folder, count))


async def _answers(folder: str, count: int) -> Data:
    crew = Begins()
    waits: list[float] = []
    async with opened(folder, workers=4, policy=FixedPolicy("ask"), crew=crew) as workbench:
        tickets = tuple(TicketSpec(id=f"T-{n}", assigned_to="shell", script="true") for n in range(count))
        await workbench.submit(ACTOR, AddTrack("ask", "ask", "", tickets))
        await workbench.submit(ACTOR, StartTrack("ask"))
        await until(workbench, lambda: len(workbench.state.pending) == count)
        for number, approval in enumerate(workbench.state.pending_approvals(), 1):
            crew.began = asyncio.get_running_loop().create_future()
            sent = time.perf_counter()
            await workbench.submit(ACTOR, AnswerApproval(approval.id, "approve"))
            waits.append(await crew.began - sent)
            await until(workbench, lambda done=number: workbench.state.tracks["ask"].counts.completed == done)
    return {"waits": waits}
