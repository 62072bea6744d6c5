"""What a person sees of gates and unverified work from the terminal."""

from tests.cli.project import Project, shell

LONG = "seq 1 5000; echo the reason >&2; exit 1"


def test_the_whole_output_of_a_failed_gate_of_a_blocked_ticket_is_one_command_away(project: Project) -> None:
    gate = {"command": LONG, "max_attempts": 1}
    file = project.tickets("plan.json", [shell("one", "echo 1 > b", verify=[gate])])
    assert project.run("run", "--tickets", file, "--approve", "all").code == 3
    shown = project.run("tickets", "show", "one").out
    assert "interlock tickets show plan/one --output" in shown
    output = project.run("tickets", "show", "one", "--output").out.splitlines()
    assert output[:2] == ["attempt 1, gate 1: " + LONG, output[1]]
    assert output[1].startswith("failed, exit code 1")
    assert [line for line in output if line.isdigit()] == [str(number) for number in range(1, 5001)]
    assert "the reason" in output
    (run,) = project.run("tickets", "show", "one", "--output", "--json").json
    assert (run["attempt"], run["gate"], run["status"], run["stderr"]) == (1, 0, "failed", "the reason\n")
    assert len(run["stdout"].splitlines()) == 5_000


def test_the_end_that_is_kept_names_what_was_dropped(project: Project) -> None:
    gate = {"command": LONG, "max_attempts": 1}
    file = project.tickets("plan.json", [shell("one", "echo 1 > b", verify=[gate])])
    project.run("run", "--tickets", file, "--approve", "all")
    (result,) = [row["event"]["result"] for row in project.journal() if row["event"]["type"] == "gate_finished"]
    first, _, rest = result["stdout"].partition("\n")
    assert first == "[… 18,893 bytes of 23,893 are not here; 'interlock tickets show ID --output' …]"
    assert (len(rest), rest.splitlines()[-1]) == (5_000, "5000")
    assert result["stderr"] == "the reason\n"


def test_the_whole_output_of_a_script_that_failed_is_one_command_away(project: Project) -> None:
    file = project.tickets("plan.json", [shell("one", LONG)])
    assert project.run("run", "--tickets", file, "--approve", "all").code == 3
    assert "interlock tickets show plan/one --output" in project.run("tickets", "show", "one").out
    output = project.run("tickets", "show", "one", "--output").out.splitlines()
    assert output == ["the script failed with exit code 1", "output:", *map(str, range(1, 5_001)), "the reason"]
    (run,) = project.run("tickets", "show", "one", "--output", "--json").json
    assert run["gate"] is None
    assert run["output"].splitlines() == output[2:]


def test_a_ticket_without_a_gate_has_no_output(project: Project) -> None:
    project.run("tracks", "import", project.tickets("plan.json", [shell("one", "true")]))
    assert (
        project.run("tickets", "show", "one", "--output").out
        == "no gate of this ticket has run, and no script of it has failed\n"
    )
    assert project.run("tickets", "show", "one", "--output", "--json").json == []


def test_unverified_work_shows_in_every_summary(project: Project) -> None:
    gated = shell("two", "echo 2 > c", verify=[{"command": "true"}])
    result = project.run(
        "run", "--tickets", project.tickets("plan.json", [shell("one", "echo 1 > b"), gated]), "--approve", "all"
    )
    assert "track plan: done, 2 of 2 done, 1 unverified (one)" in result.out
    assert "2/2 (1 unverified)" in project.run("tracks", "list").out
    assert "2 of 2 done, 1 unverified (one), 0 blocked" in project.run("tracks", "show", "plan").out
    assert "(1 unverified)" in project.run("status", "plan").out


def test_status_says_that_nobody_is_there_after_a_kill(project: Project) -> None:
    file = project.tickets("plan.json", [shell("one", "sleep 60")])
    running = project.start("run", "--tickets", file, "--approve", "all")
    while "running" not in project.run("workers", "list").out:
        assert running.poll() is None
    assert "at work: Tier 3 (Worker): one" in project.run("status").out
    assert project.run("status", "--json").json["at_work"] is True
    running.kill()
    running.communicate()
    shown = project.run("status").out
    assert "nobody is at work: the process ended in the middle; 'interlock resume' continues" in shown
    assert "at work: Tier" not in shown
    assert project.run("status", "--json").json["at_work"] is False
