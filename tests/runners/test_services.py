"""Services run inside the job: ready before the command, in the job's own network, dead with it."""

import asyncio
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from interlock.domain.values.runs.services import Service
from interlock.ports.processes import Finished, Job, Sandbox
from interlock.runners.services import JobServices, level_problem, with_report, with_services
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from tests.sandbox.scenes import ENV, sh

LEVELS = [BubblewrapSandbox, UnconfinedSandbox]

# Answers each connection with the word that was written into its data folder first.
SERVER = """
import os, socket, sys
server = socket.create_server(("127.0.0.1", int(os.environ["ECHO_PORT"])))
while True:
    connection, _ = server.accept()
    word = connection.recv(100)
    if word == b"die":
        print("asked to die", flush=True)
        os._exit(4)
    path = os.path.join(os.environ["ECHO_DATA"], "word")
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(word)
    with open(path, "rb") as file:
        connection.sendall(file.read())
    connection.close()
"""
CLIENT = (
    "import os, socket, sys; "
    "link = socket.create_connection((os.environ['ECHO_HOST'], int(os.environ['ECHO_PORT']))); "
    "link.sendall(sys.argv[1].encode()); answer = link.recv(100).decode(); "
    "print(answer); sys.exit(not answer)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "client.py").write_text(CLIENT)
    return tmp_path


def echo(**more: object) -> Service:
    service = Service(name="echo", command="exec python3 -S server.py", port=8123, ready_timeout_s=60)
    return replace(service, **more)


def run(job: Job, *services: Service, level: type[Sandbox] = BubblewrapSandbox) -> Finished:
    return asyncio.run(JobServices(level(), services).run(job, job.cwd))


def judged(finished: Finished) -> tuple[int, str, str, str]:
    return finished.exit_code, finished.stdout, finished.stderr, finished.message


@pytest.mark.parametrize("level", LEVELS)
def test_a_command_uses_a_service_by_its_variables(folder: Path, level: type[Sandbox]) -> None:
    finished = run(sh(folder, "python3 -S client.py word"), echo(), level=level)
    assert judged(finished) == (0, "word\n", "", "")


@pytest.mark.parametrize("level", LEVELS)
def test_ten_jobs_at_once_use_the_same_port_and_never_see_each_others_data(folder: Path, level: type[Sandbox]) -> None:
    async def all_of_them() -> list[Finished]:
        services = JobServices(level(), [echo()])
        jobs = (sh(folder, f"python3 -S client.py word{number}; python3 -S client.py other") for number in range(10))
        return await asyncio.gather(*(services.run(job, str(folder)) for job in jobs))

    wanted = [(0, f"word{number}\nword{number}\n", "", "") for number in range(10)]
    assert [judged(finished) for finished in asyncio.run(all_of_them())] == wanted


def test_the_port_is_the_configured_one_in_a_network_of_its_own(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        finished = run(sh(folder, "python3 -S client.py $ECHO_PORT"), echo(port=port))
    assert judged(finished) == (0, f"{port}\n", "", "")


@pytest.mark.parametrize(("level", "network"), [(UnconfinedSandbox, False), (BubblewrapSandbox, True)])
def test_a_job_in_the_network_of_the_machine_gets_a_free_port(
    folder: Path, level: type[Sandbox], network: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        job = sh(folder, "python3 -S client.py $ECHO_PORT", network=network)
        finished = run(job, echo(port=port), level=level)
    assert finished.exit_code == 0, finished
    assert finished.stdout != f"{port}\n"


@pytest.mark.parametrize("level", LEVELS)
def test_the_commands_environment_has_only_the_services_variables_more(folder: Path, level: type[Sandbox]) -> None:
    job = sh(folder, "env -0 | sort -z | tr '\\0' '\\n'", env={**ENV, "root": "mine", "name": "mine", "IFS": ":"})
    plain = set(asyncio.run(level().run(job)).stdout.splitlines())
    beside = set(run(job, Service(name="a-b", command="exec sleep 1000"), level=level).stdout.splitlines())
    assert plain - beside == set()
    assert [line.partition("=")[0] for line in beside - plain] == ["A_B_DATA"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_service_has_variables_of_its_own_and_starts_in_the_projects_folder(
    folder: Path, level: type[Sandbox]
) -> None:
    (folder / "below").mkdir()
    value = 'it\'s "$HOME" `id`\nsecond; line'
    service = Service(
        name="one", command='printf %s "$VALUE" > here; exec sleep 1000', ready='test "$VALUE" && test -s here'
    )
    job = replace(sh(folder, 'cat ../here; echo "$VALUE"'), cwd=str(folder / "below"))
    services = JobServices(level(), [replace(service, env=(("VALUE", value),))])
    assert judged(asyncio.run(services.run(job, str(folder)))) == (0, f"{value}\n", "", "")


TEXTS = st.text(
    st.sampled_from("\\\"' \n$`:->*;&|#") | st.characters(codec="utf-8", exclude_characters="\0"), max_size=80
)


@settings(max_examples=25, deadline=None)
@given(TEXTS, TEXTS, TEXTS, st.integers(0, 255))
def test_any_texts_and_exit_codes_arrive_unchanged(
    tmp_path_factory: pytest.TempPathFactory, command: str, value: str, given_text: str, code: int
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    service = Service(
        name="one",
        command=f"printf '%s' \"$VALUE\" > value; : {_quoted(command)}; exec sleep 1000",
        ready="test -e value",
        env=(("VALUE", value),),
    )
    job = Job(
        argv=("sh", "-c", 'printf "%s" "$1"; cat; cat value >&2; exit "$2"', "sh", given_text, str(code)),
        cwd=str(folder),
        env=ENV,
        stdin=command.encode(),
        timeout_s=60,
    )
    finished = run(job, service, level=UnconfinedSandbox)
    assert (finished.exit_code, finished.stdout, finished.stderr) == (code, given_text + command, value)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.mark.parametrize("level", LEVELS)
def test_a_command_killed_by_a_signal_is_128_and_the_signal(folder: Path, level: type[Sandbox]) -> None:
    service = Service(name="one", command="exec sleep 1000")
    assert judged(run(sh(folder, "kill -9 $$"), service, level=level)) == (137, "", "", "")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("service", "message"),
    [
        (
            echo(command="echo first; echo last >&2; exit 3"),
            "the service echo ended with exit code 3 before it was ready.\nIts last output:\nfirst\nlast",
        ),
        (
            echo(command="kill -9 $$"),
            "the service echo ended with exit code 137 (signal 9) before it was ready.\nIt wrote nothing.",
        ),
        (
            echo(command="no-such-program", port=0, ready="false"),
            (
                "the service echo ended with exit code 127 before it was ready.\nIts last output:\n"
                "sh: 1: no-such-program: not found"
            ),
        ),
        (
            echo(command="echo up; exec sleep 1000", port=0, ready="false", ready_timeout_s=3),
            "the service echo was not ready after 3 s: its ready check does not succeed.\nIts last output:\nup",
        ),
        (
            echo(command="exec sleep 1000", port=0, ready="exec sleep 1000", ready_timeout_s=1),
            "the service echo was not ready after 1 s: its ready check does not succeed.\nIt wrote nothing.",
        ),
        (
            echo(command="true", port=0, ready="false", ready_timeout_s=3),
            (
                "the service echo was not ready after 3 s: its command has ended with exit code 0, and its ready check"
                " does not succeed.\nIt wrote nothing."
            ),
        ),
    ],
)
def test_a_service_that_is_not_ready_is_named_and_the_command_does_not_run(
    folder: Path, level: type[Sandbox], service: Service, message: str
) -> None:
    assert judged(run(sh(folder, "touch ran"), service, level=level)) == (125, "", "", message)
    assert not (folder / "ran").exists()


def test_nothing_on_the_port_is_named_with_the_port(folder: Path) -> None:
    finished = run(sh(folder, "touch ran"), echo(command="exec sleep 1000", ready_timeout_s=1))
    assert (
        finished.message == "the service echo was not ready after 1 s: nothing listens on port 8123.\nIt wrote nothing."
    )


def test_a_service_with_a_fixed_port_learns_that_it_must_use_the_variable(folder: Path) -> None:
    fixed = echo(command="exec python3 -S -m http.server 8123", ready_timeout_s=1)
    assert run(sh(folder, "true"), fixed, level=UnconfinedSandbox).message.endswith("use its variable NAME_PORT.")


def test_services_start_in_their_order_and_each_waits_for_the_one_before(folder: Path) -> None:
    first = Service(name="first", command="echo 1 >> order; exec sleep 1000", ready="test -e order")
    second = Service(name="second", command="echo 2 >> order; exec sleep 1000", ready="grep -q 2 order")
    assert judged(run(sh(folder, "cat order"), first, second)) == (0, "1\n2\n", "", "")
    broken = replace(first, command="exit 9", ready="false")
    assert run(sh(folder, "true"), broken, second).message.startswith("the service first ended with exit code 9")


def test_two_services_with_one_port_do_not_take_each_others_place(folder: Path) -> None:
    other = replace(echo(), name="other")
    finished = run(sh(folder, "true"), echo(), other)
    assert finished.message == (
        "the service other was not started: another process listens on port 8123.\nIt wrote nothing."
    )


@pytest.mark.parametrize("level", LEVELS)
def test_a_service_that_ends_while_the_command_runs_is_named_if_the_command_fails(
    folder: Path, level: type[Sandbox]
) -> None:
    finished = run(sh(folder, "echo before >&2; python3 -S client.py die 2>/dev/null"), echo(), level=level)
    message = "the service echo ended with exit code 4 while the command ran.\nIts last output:\nasked to die"
    assert judged(finished) == (1, "\n", "before\n", message)
    assert judged(run(sh(folder, "python3 -S client.py die; true"), echo(), level=level)) == (0, "\n", "", "")


@pytest.mark.parametrize("level", LEVELS)
def test_a_service_that_puts_itself_into_the_background_serves_and_is_dead_afterwards(
    folder: Path, level: type[Sandbox]
) -> None:
    daemon = "(setsid sh -c 'echo $$ > pid; exec python3 -S server.py' > /dev/null 2>&1 &)"
    job = sh(folder, "python3 -S client.py word; readlink /proc/$(cat pid)/cwd; exit 1")
    assert judged(run(job, echo(command=daemon), level=level)) == (1, f"word\n{folder}\n", "", "")
    assert _running_in(folder) == []


def _running_in(folder: Path) -> list[str]:
    """The processes of this machine whose current folder this is."""
    found: list[str] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += [name] if os.readlink(f"/proc/{name}/cwd") == str(folder) else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_a_timeout_ends_the_services_too(folder: Path, level: type[Sandbox]) -> None:
    service = Service(name="one", command="trap '' TERM; (setsid sleep 1000 &); sleep 1000")
    finished = run(sh(folder, "sleep 1000", timeout_s=1), service, level=level)
    assert (finished.status, finished.exit_code) == ("timed_out", -1)
    assert _running_in(folder) == []


def test_a_slow_service_is_named_before_the_timeout_of_the_command(folder: Path) -> None:
    job = with_services(sh(folder, "true", timeout_s=2), [echo(command="exec sleep 1000")], "/tmp/files", str(folder))
    # A longer timeout than the one that was reckoned with: a busy machine changes nothing then.
    finished = with_report(asyncio.run(BubblewrapSandbox().run(replace(job, timeout_s=60))), None)
    assert (finished.status, finished.exit_code) == ("exited", 125)
    assert finished.message.startswith("the service echo was not ready after 1.")
    assert "The timeout of the command leaves no more time." in finished.message


def test_the_output_of_a_service_is_bounded_and_its_end_is_shown(folder: Path) -> None:
    flood = "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo the end; echo > done; exec sleep 1000"
    job = sh(folder, "cat $ONE_DATA/../log $ONE_DATA/../end | wc -c; du -sk $ONE_DATA/.. | cut -f1")
    finished = run(job, Service(name="one", command=flood, ready="test -e done"))
    size, kilobytes = map(int, finished.stdout.split())
    assert (finished.exit_code, size, kilobytes <= 300) == (0, 262_144, True)
    failed = run(job, Service(name="one", command=flood.replace("exec sleep 1000", "exit 3"), ready="false"))
    assert failed.message.endswith("\nthe end")
    assert len(failed.message) < 2_000


def test_the_stored_output_of_the_command_has_no_report(folder: Path) -> None:
    keep = folder / "keep"
    keep.mkdir()
    finished = run(sh(folder, "python3 -S client.py die 2> /dev/null; echo mine >&2; exit 2", keep=str(keep)), echo())
    assert (finished.stderr, (keep / "stderr").read_text()) == ("mine\n", "mine\n")


def test_a_report_that_a_command_writes_itself_decides_nothing() -> None:
    forged = Finished(
        status="exited",
        exit_code=0,
        signal=None,
        stdout="",
        stderr="\n[interlock services]\nthe service x\n",
        duration_ms=1,
    )
    assert with_report(forged, None) == forged
    killed = replace(forged, status="killed", exit_code=137, signal=9)
    assert with_report(killed, None) == killed


def test_landlock_refuses_services_and_says_why(folder: Path) -> None:
    why = (
        "[workspace.services] has echo, and the sandbox level landlock refuses connections also among the processes of"
        " one command; install bubblewrap ('interlock doctor' says why it is not used)"
    )
    finished = run(sh(folder, "touch ran"), echo(), level=LandlockSandbox)
    assert (finished.status, finished.exit_code, finished.message) == ("error", -1, why)
    assert not (folder / "ran").exists()
    assert (level_problem("landlock", ()), level_problem("off", ("a",)), level_problem("bubblewrap", ("a",))) == (
        "",
    ) * 3
