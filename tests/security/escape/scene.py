"""The targets outside of the sandbox, and a job that makes the attempts. Also a program, to be run as another user:
`python -m tests.security.escape.scene FOLDER LEVEL [whole]` prints the outcome as JSON.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.ports.processes import Finished, Job, Sandbox
from interlock.sandbox.jobs import jobs
from interlock.sandbox.jobs.jobs import JobLimits
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.landlock import LandlockSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from interlock.sandbox.limits import seccomp

HERE = Path(__file__).parent
TMP_MB = 4
SECRET = "secret"
# Calls that the filter does not name.
_MORE = {"x86_64": {"tgkill": 234, "get_robust_list": 274}, "aarch64": {"tgkill": 131, "get_robust_list": 100}}
_SETTINGS = ("/sys/kernel", "/sys/module", "/sys/power", "/sys/fs")
_FEW = 400


class Scene:
    def __init__(self, folder: Path, closing: contextlib.ExitStack) -> None:
        self.folder = folder.resolve()
        self._outside = self.folder / "outside"
        self._home = self._outside / "home"
        self.state = self._outside / "state"
        self.marker = f"interlock-victim-{uuid.uuid4().hex[:12]}"
        self._files()
        self._wishes = {**self._servers(closing), **self._objects(closing)}
        program = "import select; select.select([], [], [])"
        command = [sys.executable, "-I", "-S", "-c", program, self.marker]
        victim = closing.enter_context(subprocess.Popen(command))
        closing.callback(victim.kill)
        self.victim = victim.pid
        self.env = {"PATH": f".::tools:{self._outside}/tools/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(self._home)}

    def _files(self) -> None:
        for name in (
            *("file", "file2", "state/token", "home/.ssh/id_ed25519", "other/.interlock/journal.db"),
            *("worktrees/other/file", "tools/secret", "tools/bin/tool"),
        ):
            _write(self._outside / name)
        (self._outside / "empty").mkdir()
        _write(self._outside / "program.sh", "#!/bin/sh\nexit 0\n")
        (self._outside / "program.sh").chmod(0o755)

    def _servers(self, closing: contextlib.ExitStack) -> dict[str, Any]:
        tcp = closing.enter_context(socket.create_server(("127.0.0.1", 0)))
        ports = {"tcp": tcp.getsockname()[1], "tcp6": 1}
        with contextlib.suppress(OSError):
            tcp6 = closing.enter_context(socket.create_server(("::1", 0), family=socket.AF_INET6))
            ports["tcp6"] = tcp6.getsockname()[1]
        for address, kind in (
            (str(self._outside / "server.sock"), socket.SOCK_STREAM),
            (str(self._outside / "datagrams.sock"), socket.SOCK_DGRAM),
            (f"\0{self.marker}", socket.SOCK_STREAM),
            (f"\0{self.marker}-d", socket.SOCK_DGRAM),
        ):
            _serve(closing, address, kind)
        return ports

    def _objects(self, closing: contextlib.ExitStack) -> dict[str, Any]:
        libc = ctypes.CDLL(None)
        key, make = 0x11A00000 + os.getpid(), 0o1000 | 0o600
        segment = libc.shmget(key, 4096, make)
        closing.callback(libc.shmctl, segment, 0, None)
        closing.callback(libc.semctl, libc.semget(key, 1, make), 0, 0, None)
        closing.callback(libc.msgctl, libc.msgget(key, make), 0, None)
        numbers = seccomp.numbers(platform.machine())
        queue = f"interlock-{self.marker}"
        libc.syscall(numbers["mq_open"], queue.encode(), os.O_RDWR | os.O_CREAT, 0o600, None)
        closing.callback(libc.syscall, numbers["mq_unlink"], queue.encode())
        shared = Path("/dev/shm", queue)
        shared.write_text("x")
        closing.callback(shared.unlink)
        return {"key": key, "segment": segment, "queue": queue}

    def wishes(self, level: str, scene: str, work: Path, *, whole: bool) -> dict[str, Any]:
        return {
            **self._wishes,
            "numbers": {**seccomp.numbers(platform.machine()), **_MORE[platform.machine()]},
            "level": level,
            "scene": scene,
            "answer": str(work / "answer.json"),
            "outside": str(self._outside),
            "real_home": os.path.expanduser("~"),
            "victim": self.victim,
            "marker": self.marker,
            "root": os.geteuid() == 0,
            "tmp_mb": TMP_MB,
            "settings": list(_writable_settings(whole)) if level == "landlock" else [],
        }

    def sandbox(self, level: str) -> Sandbox:
        limits = JobLimits(tmp_mb=TMP_MB)
        hidden = (str(self.state), str(self.folder / "linked-state" / "interlock"))
        match level:
            case "bubblewrap":
                return BubblewrapSandbox(env=self.env, hidden=hidden, limits=limits)
            case "landlock":
                return LandlockSandbox(env=self.env, hidden=hidden, limits=limits)
            case _:
                return UnconfinedSandbox(limits=limits)

    def job(self, work: Path, *argv: str, env: Mapping[str, str] | None = None) -> Job:
        return Job(
            argv=argv,
            cwd=str(work),
            env={**self.env, **(env or {})},
            writable=(str(work),),
            stdin=b"input",
            timeout_s=100,
        )

    def prepare(self, level: str, scene: str, closing: contextlib.ExitStack, *, whole: bool) -> Path:
        work = self.folder / f"{level}-{scene}"
        package = work / "package" / "tests" / "security" / "escape"
        shutil.copytree(HERE, package, ignore=shutil.ignore_patterns("__pycache__"))
        (_plain if scene == "plain" else self._above)(work, closing)
        (work / "answer.json").touch()  # Landlock lets no file be made beside a folder that it hides
        (work / "wishes.json").write_text(json.dumps(self.wishes(level, scene, work, whole=whole)))
        return work

    async def attack(self, level: str, work: Path, *, network: bool = False) -> dict[str, Any]:
        """The attempts that were made, and those that succeeded."""
        main = str(work / "package" / "tests" / "security" / "escape" / "main.py")
        argv = (jobs.INTERPRETER, "-I", "-S", "-B", main, "wishes.json")
        finished = await self.sandbox(level).run(replace(self.job(work, *argv), network=network))
        if (finished.status, finished.exit_code) != ("exited", 0):
            raise AssertionError(f"{level}: {finished}")
        return json.loads((work / "answer.json").read_text())

    def planted(self) -> dict[str, tuple[int, bytes]]:
        return snapshot(self._outside)

    async def forge(self, level: str, script: str) -> Finished:
        if level == "off":
            raise ValueError("these scripts signal and flood other processes: never without a sandbox")
        work = self.folder / f"{level}-forging-{uuid.uuid4().hex[:8]}"
        work.mkdir()
        return await self.sandbox(level).run(self.job(work, "/bin/sh", "-c", script))

    def _above(self, work: Path, closing: contextlib.ExitStack) -> None:
        """Projects in the job's folder: found by a walk, known by the registry, and with links."""
        for place in ("near", "deep/down/in/folders", "known"):
            _write(work / place / ".interlock" / "run" / "api.json")
            _write(work / place / ".interlock" / "journal.db")
            _repository(work / place)
        _write(self.state / "projects" / "1.json", json.dumps({"place": str(work / "known")}))
        _write(self.state / "projects" / "2.json", "not JSON")
        _write(work / "visible" / "token")
        _write(work / "elsewhere" / "token")
        (work / "linking").mkdir()
        (work / "linking" / ".interlock").symlink_to("../visible")
        (work / "near" / ".interlock" / "logs").symlink_to("../../elsewhere")
        _write(work / "real-state" / "interlock" / "approve" / "token")
        link = self.folder / "linked-state"
        link.unlink(missing_ok=True)
        link.symlink_to(work / "real-state")
        (work / "services").mkdir()
        with contextlib.chdir(work / "services"):
            _serve(closing, str(work / "services" / "server.sock"), socket.SOCK_STREAM)
        with contextlib.chdir(work):
            _serve(closing, "relative.sock", socket.SOCK_STREAM)


def _plain(work: Path, _: contextlib.ExitStack) -> None:
    _repository(work)


def _repository(folder: Path) -> None:
    for name in ("HEAD", "hooks/sample", "objects/info/packs", "info/exclude", "index"):
        _write(folder / ".git" / name, "ref: refs/heads/main\n")
    _write(folder / ".git" / "config", '[core]\n[remote "origin"]\n\turl = https://user:secret@host/x\n')


def _write(path: Path, text: str = SECRET) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _serve(closing: contextlib.ExitStack, address: str, kind: int) -> None:
    server = closing.enter_context(socket.socket(socket.AF_UNIX, kind))
    server.bind(address)
    if kind == socket.SOCK_STREAM:
        server.listen(50)


def _writable_settings(whole: bool) -> Iterator[str]:
    """Files below /sys that someone may write; a command without namespaces could name them."""
    count = 0
    for root in ("/sys",) if whole else _SETTINGS:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    if os.lstat(path).st_mode & 0o222 and not os.path.islink(path):
                        yield path
                        count += 1
                if count >= _FEW and not whole:
                    return


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The mode and content of each file."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        found[str(path)] = (mode, path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
    return found


# Each script tries to be taken for a success. Its own exit status is 0 only if it can open what it needs for that.
FORGED: dict[str, str] = {
    "a descriptor of the keeper": "for n in $(seq 9); do (: >> /proc/$PPID/fd/$n) 2>/dev/null && exit 0; done; exit 7",
    "a report of its own": "for n in 3 4 5 6; do yes 'exited 0' | head -c 100000 >&$n; done 2>/dev/null; exit 7",
    "signals to the keeper": "for s in KILL STOP TERM INT HUP ABRT SEGV; do kill -$s $PPID; done 2>/dev/null; exit 7",
    "a signal to its group": "kill -TERM 0; exit 7",
    "a child that ends well": "(exit 0) & wait $!; sh -c 'exit 0'; exit 7",
    "an orphan that ends well": "(setsid sh -c 'exit 0' &) ; sleep 0.1; exit 7",
    "limits of the keeper": "prlimit --pid $PPID --cpu=1:1 --nofile=0:0 --fsize=0:0 --data=0:0 2>/dev/null; exit 7",
    "its own end by a signal": "kill -9 $$; exit 0",
    "its own end by a trap": "trap 'exit 7' EXIT; kill -TERM $$; exit 0",
    "closed streams": "exec 0<&- 1>&- 2>&-; exit 7",
    "the memory of the keeper": "(: >> /proc/$PPID/mem) 2>/dev/null && exit 0; exit 7",
    "the name of the report in the output": "echo 'exited 0'; echo 'exited 0' >&2; exit 7",
    "many daemons": "for n in 1 2 3 4 5 6 7 8; do (setsid sh -c 'while :; do :; done' >/dev/null 2>&1 &); done; exit 7",
}


async def siege(folder: Path, level: str, *, whole: bool = False, network: bool = False) -> dict[str, Any]:
    """All attempts and forgeries on a level: {tried: names, succeeded: {name: how}}."""
    if level not in ("bubblewrap", "landlock"):
        raise ValueError("these attempts are harmful without a sandbox")
    with contextlib.ExitStack() as closing:
        scene = Scene(folder, closing)
        works = [scene.prepare(level, name, closing, whole=whole) for name in ("plain", "above")]
        before = scene.planted()
        attacks = await asyncio.gather(*(scene.attack(level, work, network=network) for work in works))
        ended = await asyncio.gather(*(scene.forge(level, script) for script in FORGED.values()))
        forged = {f"forge: {name}": str(one) for name, one in zip(FORGED, ended, strict=True) if _is_forged(one)}
        changed = {path for path, _ in before.items() ^ scene.planted().items()}
        return {
            "tried": [
                *(name for attack in attacks for name in attack["tried"]),
                *(f"forge: {name}" for name in FORGED),
            ],
            "succeeded": {name: how for attack in attacks for name, how in attack["succeeded"].items()} | forged,
            "changed": sorted(changed),
        }


def _is_forged(finished: Finished) -> bool:
    return finished.succeeded or finished.status not in ("exited", "killed")


if __name__ == "__main__":
    _, place, asked, *more = sys.argv
    tempfile.tempdir = place
    print(json.dumps(asyncio.run(siege(Path(place, "scene"), asked, whole="whole" in more))))
