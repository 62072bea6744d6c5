"""Installing the program with pipx, with uv, and from the wheel alone, without the repository."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
NO_INDEX = re.compile(r"(?i)could not connect|dns error|failed to fetch|network is unreachable|no route|timed out")


class Home:
    """A separate home folder, and an environment whose PATH has nothing of this repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.project = folder / "project"
        self.project.mkdir()
        keep = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        path = [part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != BIN]
        self.env = keep | {
            "PATH": os.pathsep.join([str(self.bin), *path]),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_BIN_HOME": str(self.bin),
            "UV_TOOL_DIR": str(folder / "uv"),
            "PIPX_HOME": str(folder / "pipx"),
            "PIPX_BIN_DIR": str(self.bin),
            "NO_COLOR": "1",
        }

    def install(self, *command: str) -> None:
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode != 0 and NO_INDEX.search(done.stdout + done.stderr):
            pytest.skip("no package index can be reached")
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, *words: str) -> str:
        command = [str(self.bin / "interlock"), *words]
        done = subprocess.run(command, cwd=self.project, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [str(self.bin / "interlock"), *words]
        return subprocess.Popen(
            command, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("installed"))
    home.install(str(BIN / "uv"), "tool", "install", str(wheel))
    return home


def test_the_wheel_holds_the_data_files_and_says_that_it_is_typed(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    data = {str(path.relative_to(source)) for path in source.rglob("*") if path.suffix in (".md", ".toml", ".json")}
    assert data
    assert {*data, "interlock/py.typed"} <= names
    assert not [name for name in names if name.startswith("tests")]


def test_pipx_installs_the_repository_and_puts_only_interlock_on_path(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install(str(BIN / "pipx"), "install", str(ROOT))
    assert [path.name for path in home.bin.iterdir()] == ["interlock"]
    assert home.run("--version").startswith("interlock ")


def test_uv_installs_the_repository_and_puts_only_interlock_on_path(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.install(str(BIN / "uv"), "tool", "install", str(ROOT))
    assert [path.name for path in home.bin.iterdir()] == ["interlock"]
    assert home.run("--version").startswith("interlock ")


def test_the_wheel_alone_runs_the_demo(installed: Home) -> None:
    demo = installed.folder / "demo"
    assert "landed" in installed.run("demo", "--dir", str(demo))
    log = subprocess.run(["git", "log", "--format=%s"], cwd=demo, capture_output=True, text=True, check=True)
    assert len(log.stdout.splitlines()) > 1


def test_the_wheel_alone_views_and_verifies(installed: Home) -> None:
    source = installed.project / "a.py"
    source.write_text("def twice(x: int) -> int:\n    y = x * 2\n    return y\n")
    assert installed.run("view", "skeleton", "a.py") == "def twice(x: int) -> int:\n    ...\n"
    assert json.loads(installed.run("verify", "--json", "true"))["status"] == "passed"


def test_the_wheel_alone_serves(installed: Home) -> None:
    process = installed.start("serve", "--json", "--port", "0")
    try:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=30) as reply:
            assert json.load(reply) == {"status": "ok"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def test_the_wheel_alone_opens_the_window(installed: Home) -> None:
    process = installed.start("gui", "--backend", "null")
    try:
        socket = installed.project / ".interlock" / "run" / "control.sock"
        waiting = threading.Event()
        for _ in range(6_000):
            if socket.exists() or process.poll() is not None:
                break
            waiting.wait(0.01)
        assert socket.exists()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def test_nothing_of_the_repository_is_used(installed: Home) -> None:
    (python,) = (installed.folder / "uv").glob("*/bin/python")
    where = subprocess.run(
        [str(python), "-c", "import interlock; print(interlock.__path__[0])"],
        cwd=installed.folder,
        env=installed.env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert where.startswith(str(installed.folder))
    assert shutil.which("python", path=str(installed.bin)) is None
