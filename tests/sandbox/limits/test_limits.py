"""Resource limits of a command, on every level."""

import asyncio
import os
import pwd
import resource
from pathlib import Path

import pytest

from interlock.ports.processes import Finished, Job
from interlock.runners.gate import explain
from interlock.sandbox.jobs import space
from interlock.sandbox.jobs.jobs import JobLimits
from tests.sandbox.sandbox_levels import CONFINED, make_sandbox
from tests.sandbox.scenes import ENV, alive_in, run, sh

LEVELS = (*CONFINED, "off")

# Forks eight times, to 256 processes, and then waits; it ends after a minute even if the limit does not work.
BOMB = """
import os, time
for _ in range(8):
    os.fork()
open("size", "a").write("x")
__import__("select").select([], [], [], 60)
"""


def python(level: str, folder: Path, program: str, limits: JobLimits) -> Finished:
    job = Job(argv=("python3", "-S", "-c", program), cwd=str(folder), env=ENV, writable=(str(folder),), timeout_s=50)
    return run(make_sandbox(level, limits=limits), job)


@pytest.mark.parametrize("level", LEVELS)
def test_a_command_that_has_too_many_processes_is_killed_with_all_of_them(level: str, tmp_path: Path) -> None:
    finished = python(level, tmp_path, BOMB, JobLimits(processes=60))
    assert (finished.status, finished.exit_code, finished.signal) == ("killed", 137, 9), finished
    message = "it had more than 60 processes at once ([limits] processes); all of them were killed"
    assert (finished.message, explain(finished)) == (message, message)
    assert alive_in(tmp_path) == []


@pytest.mark.parametrize("level", LEVELS)
def test_a_bomb_of_shells_that_re_fork_for_ever_is_put_out(level: str, tmp_path: Path) -> None:
    # Each shell starts two more and ends; at most 2,000 in all, even if the limit does not work.
    bomb = 'echo x >> n; [ $(wc -l < n) -gt 2000 ] || { sh "$0" & sh "$0" & sleep 2; wait; }'
    (tmp_path / "bomb.sh").write_text(bomb)
    finished = run(
        make_sandbox(level, limits=JobLimits(processes=100)), sh(tmp_path, "exec sh ./bomb.sh", timeout_s=50)
    )
    assert (finished.status, "more than 100 processes" in finished.message) == ("killed", True), finished
    assert alive_in(tmp_path) == []
    written = (tmp_path / "n").stat().st_size
    asyncio.run(asyncio.sleep(0.2))
    assert (tmp_path / "n").stat().st_size == written


@pytest.mark.parametrize("level", LEVELS)
def test_as_many_processes_as_are_allowed_do_no_harm(level: str, tmp_path: Path) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.3 & done; wait; echo done"
    assert run(make_sandbox(level, limits=JobLimits(processes=60)), sh(tmp_path, script)).stdout == "done\n"


@pytest.mark.parametrize("level", LEVELS)
def test_each_process_has_so_much_memory_and_so_many_files(level: str, tmp_path: Path) -> None:
    program = """
import resource
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_DATA))
try:
    bytearray(300 << 20)
except MemoryError:
    print("no memory")
"""
    limited = python(level, tmp_path, program, JobLimits(memory_mb=200, open_files=300))
    assert limited.stdout == f"(300, 300) ({200 << 20}, {200 << 20})\nno memory\n", limited
    few = python(level, tmp_path, program, JobLimits(memory_mb=1, open_files=1))
    assert few.stdout == f"(256, 256) ({64 << 20}, {64 << 20})\nno memory\n", few
    free = python(level, tmp_path, program, JobLimits())
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert free.stdout.startswith(f"{ours} (-1, ") or resource.getrlimit(resource.RLIMIT_DATA)[1] != -1
    assert "no memory" not in free.stdout


@pytest.mark.parametrize("level", CONFINED)
def test_the_kernel_stops_a_user_who_is_not_root_by_itself(level: str, tmp_path: Path) -> None:
    program = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[0])"
    most = int(python(level, tmp_path, program, JobLimits(processes=1000)).stdout)
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    assert 1000 < most <= 1_000_000 or most == hard
    none = int(python(level, tmp_path, program, JobLimits(processes=0)).stdout)
    assert none == resource.getrlimit(resource.RLIMIT_NPROC)[0], pwd.getpwuid(os.getuid()).pw_name


FILL = """
for number in range(64):
    with open(os.path.join(sys.argv[1], str(number)), "wb") as file:
        file.write(bytes(1 << 20))
print("filled")
__import__("select").select([], [], [], 30)
"""


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "home"])
def test_temporary_folders_have_a_size(tmp_path: Path, place: str) -> None:
    folder = str(Path(ENV["HOME"])) if place == "home" else place
    script = f"df -k --output=size {folder} | tail -1; head -c 9000000 /dev/zero > {folder}/large"
    finished = run(make_sandbox("bubblewrap", limits=JobLimits(tmp_mb=8)), sh(tmp_path, script))
    assert (finished.stdout.strip(), finished.exit_code) == ("8192", 1)
    assert "No space left on device" in finished.stderr
    free = run(make_sandbox("bubblewrap", limits=JobLimits(tmp_mb=0)), sh(tmp_path, script))
    assert free.exit_code == 0


def test_without_a_private_file_system_a_command_that_fills_its_folder_is_killed(tmp_path: Path) -> None:
    def fill(limits: JobLimits) -> Finished:
        program = "import os, sys; sys.argv = ['', os.environ['TMPDIR']]" + FILL
        return python("landlock", tmp_path, program, limits)

    finished = fill(JobLimits(tmp_mb=8))
    assert (finished.status, finished.signal) == ("killed", 9), finished
    assert finished.message == "its temporary files had more than 8 MB ([limits] tmp_mb); it was killed"


def test_files_are_counted_once_and_by_their_place_on_disk(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(1 << 20))
    os.link(tmp_path / "folder" / "file", tmp_path / "again")
    os.symlink("/usr", tmp_path / "link")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1 << 40)
    assert 1 << 20 <= space.used(os.fsencode(tmp_path), 1 << 30) < 2 << 20
    assert space.used(os.fsencode(tmp_path / "gone"), 1 << 30) == 0
