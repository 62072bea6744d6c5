"""Common development tools work in a sandbox on each level."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from interlock.ports.processes import Finished, Job
from tests.sandbox.sandbox_levels import CONFINED, make_sandbox
from tests.sandbox.scenes import ENV, run, sh


@pytest.fixture(params=CONFINED)
def level(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def output_of(level: str, folder: Path, script: str, *, env: Mapping[str, str] = ENV, **more: object) -> str:
    """The stripped output of the script, stdout and stderr together."""
    job = sh(folder, f"exec 2>&1; {script}", env=env, **more)  # pyright: ignore[reportArgumentType]
    finished = run(make_sandbox(level, env=env), job)
    assert finished.status == "exited", finished
    return finished.stdout.strip()


@pytest.mark.parametrize("place", ["work/.venv", "elsewhere"])
def test_a_virtual_environment_works_with_its_own_python(level: str, tmp_path: Path, work: Path, place: str) -> None:
    venv = tmp_path / place
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    env = {**ENV, "VIRTUAL_ENV": str(venv), "PATH": f"{venv}/bin:{ENV['PATH']}"}
    program = "import sys, ssl, sqlite3; print(sys.prefix, sys.version_info[:2])"
    job = Job(argv=("python", "-c", program), cwd=str(work), env=env, writable=(str(work),))
    finished = run(make_sandbox(level, env=env), job)
    assert (finished.stdout, finished.stderr) == (f"{venv} {sys.version_info[:2]}\n", "")


def test_a_python_project_with_its_own_environment_runs_its_tests(level: str, work: Path) -> None:
    venv = work / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    site = next((venv / "lib").glob("python*/site-packages"))
    (site / "dependency.py").write_text("ANSWER = 42\n")
    (work / "test_it.py").write_text(
        "import subprocess, sys, tempfile, threading, unittest, dependency\n"
        "class It(unittest.TestCase):\n"
        "    def test_it(self):\n"
        "        with tempfile.NamedTemporaryFile() as file:\n"
        "            file.write(b'x')\n"
        "        thread = threading.Thread(target=print)\n"
        "        thread.start(); thread.join()\n"
        "        code = 'import dependency; print(dependency.ANSWER)'\n"
        "        self.assertEqual(subprocess.check_output([sys.executable, '-c', code]), b'42\\n')\n"
    )
    output = output_of(level, work, ".venv/bin/python -m unittest -q test_it && ls -d __pycache__")
    assert list(filter(None, output.splitlines()))[-2:] == ["OK", "__pycache__"], output


def test_the_python_of_path_is_the_same_inside_as_outside(level: str, work: Path) -> None:
    outside = subprocess.run(["python3", "-VV"], env=ENV, check=True, capture_output=True, text=True).stdout.strip()
    assert output_of(level, work, "python3 -VV") == outside


def test_programs_of_node_modules_work(level: str, work: Path) -> None:
    package = work / "node_modules" / "tool"
    package.mkdir(parents=True)
    (package / "cli.sh").write_text("#!/bin/sh\necho from the package\n")
    (package / "cli.sh").chmod(0o755)
    (work / "node_modules" / ".bin").mkdir()
    (work / "node_modules" / ".bin" / "tool").symlink_to("../tool/cli.sh")
    env = {**ENV, "PATH": f"{work}/node_modules/.bin:{ENV['PATH']}"}
    assert output_of(level, work, "tool", env=env) == "from the package"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_a_node_project_runs_its_tests(level: str, work: Path) -> None:
    package = work / "node_modules" / "dependency"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "dependency", "version": "1.0.0", "main": "index.js"}')
    (package / "index.js").write_text("module.exports = 42;\n")
    (work / "package.json").write_text('{"name": "p", "version": "1.0.0", "scripts": {"test": "node check.js"}}')
    (work / "check.js").write_text(
        "const { execFileSync } = require('child_process'); const fs = require('fs'); const os = require('os');\n"
        "const folder = fs.mkdtempSync(os.tmpdir() + '/x-'); fs.writeFileSync(folder + '/y', 'z');\n"
        "const said = execFileSync(process.execPath, ['-p', \"require('dependency')\"]).toString().trim();\n"
        "console.log('child says ' + said); fs.writeFileSync('out.txt', said);\n"
    )
    assert output_of(level, work, "node check.js && cat out.txt") == "child says 42\n42"
    if shutil.which("npm"):
        assert output_of(level, work, "npm test --silent").endswith("child says 42")


def repository(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    git("init", "-q", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)


def git(*args: str, cwd: Path) -> None:
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *args], cwd=cwd, check=True, stdout=-3)


def test_git_can_look_but_not_touch_in_a_linked_worktree(level: str, tmp_path: Path, work: Path) -> None:
    main = tmp_path / "main"
    repository(main)
    work.rmdir()
    git("worktree", "add", "-q", str(work), cwd=main)
    readable = (str(main / ".git"), str(work / ".git"))
    assert output_of(level, work, "git log --format=%s; git status --short", readable=readable) == "first"
    script = "git commit -q --allow-empty -m second; git config a.b c; git log --format=%s"
    output = output_of(level, work, script, readable=readable)
    assert output.endswith("first")
    assert "Read-only file system" in output or "Permission denied" in output


def test_common_tools_find_what_they_need(level: str, work: Path) -> None:
    script = """
        set -e
        test -w /dev/null; test -r /dev/urandom; test -d /proc/self
        mktemp > /dev/null; getent passwd "$(id -u)" > /dev/null
        printf 'a\\nb\\n' | sort | tr a-z A-Z | awk '{print $1}'
        date > /dev/null; echo x > "$HOME/mine"; cat /proc/cpuinfo /proc/meminfo > /dev/null
        mkdir -p a/b; touch a/b/c; chmod +x a/b/c; mv a d; ln -s d e; cp -p d/b/c f; rm -r d
    """
    assert output_of(level, work, script, env={**ENV, "TMPDIR": "/no/such/folder"}) == "A\nB"


def test_bash_and_its_pipes_by_name_work(level: str, work: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    script = "bash -c 'diff <(echo a) <(echo a) && cat <<< word && cat /dev/stdin < <(echo pipe)'"
    assert output_of(level, work, script) == "word\npipe"


def test_make_runs_jobs_side_by_side(level: str, work: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    (work / "Makefile").write_text("all: a b c\na b c:\n\t@echo $@ > $@\n")
    assert output_of(level, work, "make -s -j3 && cat a b c") == "a\nb\nc"


def test_named_locks_work_where_there_is_a_private_place_for_them(work: Path) -> None:
    job = Job(
        argv=("python3", "-c", "import multiprocessing; multiprocessing.Lock()"),
        cwd=str(work),
        env=ENV,
        writable=(str(work),),
    )
    ended: dict[str, Finished] = {level: run(make_sandbox(level), job) for level in CONFINED}
    assert ended["bubblewrap"].exit_code == 0
    assert "PermissionError" in ended["landlock"].stderr  # known and documented: all users share /dev/shm
