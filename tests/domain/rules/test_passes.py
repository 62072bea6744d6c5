"""The state remembers passes whose inputs are known, newest first, a bounded number of them."""

from msgspec import UNSET
from msgspec.structs import replace

from interlock import wire
from interlock.domain.messages.commands.attempt_commands import FinishMerge, RedoAttempt, ReportGate
from interlock.domain.messages.envelopes import SYSTEM
from interlock.domain.step import replay
from interlock.domain.values.gates import Gate, GateInputs, GateResult, Reused
from interlock.domain.values.runs.passes import MOST_PASSES, Pass, passes_of, with_pass
from interlock.domain.values.tickets import Merging, ReusedGate
from tests.domain.given import AT, FAIL, PASS, Bench, bench, shell

INPUTS = GateInputs("run", "tools")
KNOWN = replace(PASS, duration_ms=4_100, inputs=INPUTS)
SOURCE = Reused("x", "A", 1, 8, AT, 4_100)
AGAIN = GateResult(status="passed", exit_code=0, command="true", duration_ms=0, reused=SOURCE)


def gates(*names: str) -> Bench:
    project = bench(*(shell(name, verify=(Gate("true"), Gate("make"))) for name in names), approve_all=True)
    for name in names:
        project.submit(name)
    return project


def report(project: Bench, ticket: str, gate: int, result: GateResult) -> None:
    project.send(ReportGate("x", ticket, 1, gate, result, "tree"), SYSTEM)


def test_a_pass_with_known_inputs_is_remembered_with_its_place_in_the_journal() -> None:
    project = gates("A")
    report(project, "A", 0, KNOWN)
    version = project.records[-1].version
    assert project.state.passes == (Pass(INPUTS, replace(SOURCE, version=version)),)
    report(project, "A", 1, PASS)
    assert len(project.state.passes) == 1, "without inputs it counts only here"


def test_a_failure_is_never_remembered() -> None:
    project = gates("A")
    report(project, "A", 0, replace(FAIL, inputs=INPUTS))
    assert project.state.passes == ()


def test_a_reuse_is_kept_with_its_ticket_until_the_gate_runs_itself_or_a_new_attempt_starts() -> None:
    project = gates("A", "B")
    report(project, "A", 0, KNOWN)
    passes = project.state.passes
    report(project, "B", 0, AGAIN)
    report(project, "B", 1, replace(AGAIN, reused=replace(SOURCE, version=9)))
    assert project.state.passes == passes, "it rests on the first run: its age counts from there"
    second = ReusedGate(1, replace(SOURCE, version=9))
    assert project.ticket("B").reused == (ReusedGate(0, SOURCE), second)
    assert [project.ticket("B").rests_on(gate) for gate in (0, 2)] == [SOURCE, UNSET]
    assert isinstance(project.ticket("B").stage, Merging)
    report(project, "B", 0, PASS)  # the branch moved
    assert project.ticket("B").reused == (second,)
    project.send(RedoAttempt("x", "B", 1, "conflict"), SYSTEM)
    assert project.ticket("B").reused == ()


def test_a_gate_of_a_merge_that_ran_changes_nothing_else() -> None:
    project = gates("A")
    report(project, "A", 0, PASS)
    report(project, "A", 1, PASS)
    before = project.ticket("A")
    report(project, "A", 0, KNOWN)
    assert project.ticket("A") is before
    assert len(project.state.passes) == 1
    project.send(FinishMerge("x", "A", 1, "c"), SYSTEM)
    assert len(project.state.passes) == 1


def test_passes_survive_a_replay_and_a_checkpoint() -> None:
    project = gates("A", "B")
    empty = wire.encode_state(project.state)
    assert wire.encode_state(wire.decode_state(empty)) == empty
    report(project, "A", 0, KNOWN)
    report(project, "B", 0, AGAIN)
    assert replay(project.records) == project.state
    stored = wire.encode_state(project.state)
    assert wire.decode_state(stored).passes == project.state.passes
    assert wire.encode_state(wire.decode_state(stored)) == stored


def test_the_newest_passes_are_kept_and_the_same_inputs_only_once() -> None:
    passes: tuple[Pass, ...] = ()
    for number in range(MOST_PASSES + 5):
        passes = with_pass(passes, Pass(GateInputs(f"{number}", "tools"), replace(SOURCE, version=number)))
    assert [one.source.version for one in passes] == list(range(MOST_PASSES + 4, 4, -1))
    again = with_pass(passes, Pass(GateInputs("7", "tools"), replace(SOURCE, version=999)))
    assert (len(again), again[0].source.version) == (MOST_PASSES, 999)
    other = with_pass(again, Pass(GateInputs("7", "new tools"), replace(SOURCE, version=1000)))
    assert [one.source.version for one in passes_of(other, "7")] == [1000, 999]
