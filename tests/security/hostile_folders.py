"""A grammar of hostile folders: each seed gives one folder, made of parts that a clone or an archive could bring.

What must hold for every one of them is in `Scene.check`: nothing outside the folder changes, the bait port gets no
connection, the bait program does not run, no agent is told "allow", and no command fails with a traceback or hangs.
"""

import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.processes import forked
from tests.security.hostile_journals import write_journals

HOOK = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}})

PLACES = (
    "journal.db", "journal.db-wal", "journal.db-journal", "journal.head", "lock", "identity", ".gitignore", "blobs",
    "cache", "cache/state", "run", "run/control.sock", "run/api.json", "run/ask.json", "run/harness.json", "logs",
    "logs/sessions", "logs/sessions/20200101_000000", "scripts", "scripts/generated",
    "scripts/generated/20200101_000000_0001.sh", "artifacts", "artifacts/old.png", "private.git", "private.git/HEAD",
    "private.git/config", "private.git/info/exclude", "private.git/objects", "private.git/objects/info/alternates",
    "private.git/refs", "blobs/" + "0" * 64,
)  # fmt: skip
"""Every name in `.interlock` that Interlock reads, writes or deletes."""

NAMES = (b"\xff\xfe", b"a\nb", b"\x1b]0;x\x07", b"-rf", b"--yes", b" ", b"x" * 255, "‮txt.exe".encode(), b"$(id)", b"*")

COMMANDS = (
    ["status"],
    ["status", "--json"],
    ["tracks", "list"],
    ["tracks", "land", "done", "--approve", "all"],
    ["tickets", "list", "--json"],
    ["approvals", "list", "--json"],
    ["approvals", "show", "A-1"],
    ["approvals", "answer", "A-1", "approve"],
    ["journal", "verify"],
    ["journal", "verify", "--rebuild-head"],
    ["journal", "show"],
    ["journal", "export"],
    ["trust", "--show", "--json"],
    ["trust", "--show"],
    ["policy", "check", "--", "git status"],
    ["policy", "list"],
    ["usage"],
    ["test", "list"],
    ["test", "discover"],
    ["discussions", "list"],
    ["workers", "list"],
    ["context", "--files", "a.txt"],
    ["adopt"],
    ["adopt", "--json"],
    ["adopt", "--yes"],
    ["init"],
    ["resume"],
    ["run", "--resume", "--approve", "all"],
    ["run", "--tickets", "TICKETS"],
    ["chat", "Hello"],
    ["tell", "a", "hurry"],
    ["ask-hook"],
    ["tracks", "import", "TICKETS"],
)


SERVE = ["serve"]


class Scene:
    """What lies around the hostile folders of one test process: a home with bait, a bait port, a bait program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.outside = folder / "outside"
        for name in (".bashrc", ".ssh/id_ed25519", ".config/git/ignore", "old/20200101_000000/x", "old/20200101_1.sh"):
            self._put(self.home / name)
        for name in ("repo/.git/info/exclude", "repo/.git/HEAD", "bin/x", "20200101_000000/deep/y", "1.png"):
            self._put(self.outside / name)
        self.ran = self.outside / "ran"
        self.bait = self.home / "bait.sh"
        self.bait.write_text(f"#!/bin/sh\necho ran >> {self.ran}\n")
        self.bait.chmod(0o755)
        _git(self.outside / "repo", "init", "-q")
        self.port_listener = socket.create_server(("127.0.0.1", 0))
        self.port_listener.setblocking(False)
        self.port: int = self.port_listener.getsockname()[1]
        self.tickets = self.home / "plan.json"
        self.tickets.write_text(json.dumps([{"id": "a", "assigned_to": "shell", "script": "echo hi > hi.txt"}]))
        self.journals = write_journals(folder / "journals", self.home, str(self.bait))
        self.before = fingerprint(self.home, self.outside)

    def _put(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n")
        os.utime(path, (0, 0))

    def env(self, case: Path) -> dict[str, str]:
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        ours = {f"XDG_{kind}_HOME": str(case / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
        return {**keep, **ours, "HOME": str(self.home), "USER": "victim", "NO_COLOR": "1"}

    def run(self, case: Path, words: list[str], cwd: Path) -> tuple[int, str, str]:
        argv = [str(self.tickets) if word == "TICKETS" else word for word in words]
        stdin = HOOK if words[0] == "ask-hook" else ""
        done = forked.run(argv, cwd=cwd, env=self.env(case), stdin=stdin, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def serve(self, case: Path, cwd: Path, meanwhile: list[list[str]]) -> tuple[int, str, str]:
        """Starts `serve`; if it runs, runs these commands beside it, then stops it as a user would."""
        argv = [sys.executable, "-m", "interlock.cli.main", "serve", "--json", "--port", "0"]
        kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        with subprocess.Popen(
            argv,
            cwd=cwd,
            env={**self.env(case), **kept},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                announced = process.stdout.readline()  # empty if it refuses to serve
                outputs = [self.run(case, words, cwd) for words in meanwhile] if announced else []
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=20)
            finally:
                process.kill()
        allowed = "".join(out for _, out, _ in outputs)
        return process.returncode, announced + out + allowed, err + "".join(err for _, _, err in outputs)

    def check(self) -> list[str]:
        """What is wrong after a case; empty if everything held."""
        wrong: list[str] = []
        if self.ran.exists():
            wrong.append("the bait program ran")
            self.ran.unlink()
        with suppress(BlockingIOError):
            self.port_listener.accept()[0].close()
            wrong.append("a connection was opened")
        now = fingerprint(self.home, self.outside)
        if now != self.before:
            changed = sorted(name for name in {*now, *self.before} if now.get(name) != self.before.get(name))
            wrong.append(f"changed outside: {', '.join(changed)}")
            self.before = now
        return wrong

    def close(self) -> None:
        self.port_listener.close()


def fingerprint(*roots: Path) -> dict[str, object]:
    """Everything below these folders: type, mode, size, link target and content."""
    found: dict[str, object] = {}
    for root in roots:
        for path in (root, *root.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
            target = os.readlink(path) if stat.S_ISLNK(status.st_mode) else None
            found[str(path)] = (status.st_mode, content, target)
    return found


def _git(folder: Path, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nowhere"}
    settings = ("user.name=x", "user.email=x@x", "init.defaultBranch=main")
    quiet = ("core.hooksPath=/dev/null", "core.fsmonitor=false")  # the folder is hostile to git, too
    names = [word for setting in (*settings, *quiet) for word in ("-c", setting)]
    subprocess.run(("git", *names, *words), cwd=folder, env=env, check=False, capture_output=True)


class Folder:
    """One hostile folder, made from a seed."""

    def __init__(self, scene: Scene, case: Path, seed: int) -> None:
        self.scene = scene
        self.case = case
        self.chance = random.Random(seed)
        self.parts: list[str] = []
        self._late: list[Callable[[], None]] = []
        self.root = case / "project"
        self.root.mkdir(parents=True)
        (self.root / "a.txt").write_text("hello\n")

    def make(self) -> None:
        steps: tuple[tuple[float, Callable[[], None]], ...] = (
            (0.8, self._repository),
            (0.85, self._interlock),
            (0.5, self._settings),
            (0.3, self._library),
            (0.3, self._track_files),
            (0.3, self._names),
            (0.2, self._tracked),
            (0.2, self._modes),
            (0.3, self._nested),
        )
        for probability, step in steps:
            if self.chance.random() < probability:
                step()
        for step in self._late:  # git itself would run these while the folder is made
            step()

    def commands(self, count: int) -> Iterator[tuple[list[str], Path]]:
        sub = self.root / "sub"
        sub.mkdir(exist_ok=True)
        chosen = self.chance.sample(COMMANDS, count)
        if self.chance.random() < 0.25:
            chosen.append(SERVE)
        for words in chosen:
            yield words, self.chance.choice((self.root, self.root, sub, *self._inner()))

    def _inner(self) -> tuple[Path, ...]:
        nested = self.root / "nested"
        return (nested, nested) if nested.is_dir() and not nested.is_symlink() else ()

    def _note(self, part: str) -> None:
        self.parts.append(part)

    def _target(self) -> Path:
        home, outside = self.scene.home, self.scene.outside
        return self.chance.choice(
            (home, home / ".bashrc", home / "old", outside, outside / "repo", Path("/dev/zero"), Path("/nowhere/x"))
        )

    # ── git ──────────────────────────────────────────────────────────────────────────────

    def _repository(self) -> None:
        bait, git = self.scene.bait, self.root / ".git"
        kind = self.chance.choice(
            ("plain", "config", "config", "drivers", "drivers", "file", "link", "exclude", "index", "hooks")
        )
        self._note(f"git {kind}")
        if kind == "file":
            git.write_text(f"gitdir: {self.scene.outside / 'repo' / '.git'}{self.chance.choice(['', ' ', chr(10)])}")
            return
        if kind == "link":
            git.symlink_to(self.scene.outside / "repo" / ".git")
            return
        _git(self.root, "init", "-q")
        (self.root / ".gitattributes").write_text("* diff=evil merge=evil\n")
        _git(self.root, "add", "-A")
        _git(self.root, "commit", "-q", "-m", "x")
        match kind:
            case "config":
                hostile = (
                    f"[core]\n\tfsmonitor = {bait}\n\thooksPath = {bait.parent}\n\tsshCommand = {bait}\n",
                    f'[diff]\n\texternal = {bait}\n[diff "evil"]\n\ttextconv = {bait}\n\tcommand = {bait}\n',
                    f'[merge "evil"]\n\tdriver = {bait}\n[credential]\n\thelper = !{bait}\n[gpg]\n\tprogram = {bait}\n',
                    f"[include]\n\tpath = {self.scene.home / '.bashrc'}\n[alias]\n\tstatus = !{bait}\n",
                )
                with (git / "config").open("a") as file:
                    file.write(self.chance.choice(hostile))
            case "drivers":
                self._late.append(partial(self._drivers, self.root))
            case "exclude":
                (git / "info").mkdir(exist_ok=True)
                (git / "info" / "exclude").unlink(missing_ok=True)
                (git / "info" / "exclude").symlink_to(self._target())
            case "index":
                (git / "index").unlink()
                os.mkfifo(git / "index")
            case "hooks":
                for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
                    (git / "hooks").mkdir(exist_ok=True)
                    shutil.copy(bait, git / "hooks" / name)
            case _:
                pass

    def _drivers(self, root: Path) -> None:
        """Filters and drivers for every file, with attributes in the tree or in git's own folder."""
        bait, git = self.scene.bait, root / ".git"
        if not git.is_dir():
            return
        clean = f"\tclean = {bait} %f\n\tsmudge = {bait} %f\n"
        settings = (
            f'[filter "evil"]\n{clean}\trequired = true\n',
            f'[filter "evil"]\n\tprocess = {bait}\n\trequired = true\n',
            f'[diff "evil"]\n\tcommand = {bait}\n\ttextconv = {bait}\n\tcachetextconv = true\n',
            f'[merge "evil"]\n\tdriver = {bait} %O %A %B\n\trecursive = evil\n[merge]\n\tdefault = evil\n',
            f'[filter "evil"]\n\tclean = \\\n{bait}\n[diff]\n\texternal = {bait}\n',
        )
        with (git / "config").open("a") as file:
            file.write("".join(self.chance.sample(settings, 3)))
        attributes = self.chance.choice((root / ".gitattributes", git / "info" / "attributes"))
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text("* filter=evil diff=evil merge=evil\na.txt filter=evil text eol=crlf ident\n")
        if self.chance.random() < 0.5:
            (root / "a.txt").write_text("changed: git looks at it again\n")

    # ── projects in projects ─────────────────────────────────────────────────────────────

    def _nested(self) -> None:
        """A project in the project: a plain folder, a repository of its own, or a submodule, with `.interlock`."""
        kind = self.chance.choice(("folder", "repository", "submodule", "worktree", "link"))
        inner = self.root / "nested"
        if inner.is_symlink() or inner.exists():
            return
        self._note(f"nested {kind}")
        if kind == "link":
            inner.symlink_to(self._target())
            return
        inner.mkdir()
        outer, self.root = self.root, inner
        try:
            (inner / "a.txt").write_text("inner\n")
            if kind != "folder":
                _git(inner, "init", "-q")
                _git(inner, "add", "-A")
                _git(inner, "commit", "-q", "-m", "inner")
                self._late.append(partial(self._drivers, inner))
            self._interlock()
            if self.chance.random() < 0.5:
                self._settings()
        finally:
            self.root = outer
        if kind == "submodule":
            bait = self.scene.bait
            (outer / ".gitmodules").write_text(
                f'[submodule "nested"]\n\tpath = nested\n\turl = ext::{bait}\n\tupdate = !{bait}\n\tbranch = .\n'
            )
            if (outer / ".git" / "index").is_file() and not (outer / ".git").is_symlink():
                _git(outer, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},nested")
        if kind == "worktree":
            shutil.rmtree(inner / ".git", ignore_errors=True)
            (inner / ".git").write_text(f"gitdir: {outer / '.git'}\n")

    def _tracked(self) -> None:
        if (self.root / ".git" / "index").is_file() and not (self.root / ".git").is_symlink():
            self._note("tracked")
            empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
            name = self.chance.choice((".interlock", ".interlock/run/ask.json", ".interlock/artifacts"))
            _git(self.root, "update-index", "--add", "--cacheinfo", f"100644,{empty},{name}")

    # ── .interlock ───────────────────────────────────────────────────────────────────────

    def _interlock(self) -> None:
        folder = self.root / ".interlock"
        kind = self.chance.choice(("link", "file", "fifo", "socket", "empty", *("folder",) * 12))
        self._note(f".interlock {kind}")
        match kind:
            case "link":
                folder.symlink_to(self.chance.choice((self._target(), self.scene.journals[0], Path(".interlock"))))
            case "file":
                folder.write_text("x")
            case "fifo":
                os.mkfifo(folder)
            case "socket":
                _bind(folder)
            case "empty":
                folder.mkdir()
            case _:
                folder.mkdir(mode=self.chance.choice((0o700, 0o755, 0o777)))
                self._journal(folder)
                self._identity(folder)
                self._discovery(folder)
                for _ in range(self.chance.choice((0, 0, 1, 1, 2, 4))):
                    self._odd_place(folder)

    def _journal(self, folder: Path) -> None:
        kind = self.chance.choice(("none", "garbage", "sparse", "trigger", *("shipped",) * 8))
        if kind == "none":
            return
        self._note(f"journal {kind}")
        if kind == "garbage":
            (folder / "journal.db").write_bytes(self.chance.randbytes(5_000))
            return
        if kind == "sparse":
            (folder / "journal.db").touch()
            os.truncate(folder / "journal.db", 1 << 40)
            return
        source = self.chance.choice(self.scene.journals)
        self._note(source.name)
        shutil.copytree(source, folder, dirs_exist_ok=True)
        if kind == "trigger":
            import sqlite3

            connection = sqlite3.connect(folder / "journal.db")
            connection.execute("CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM events; END")
            connection.commit()
            connection.close()
        if self.chance.random() < 0.2:
            self._note("rollback journal")
            (folder / "journal.db-journal").write_bytes(_rollback_journal(str(self.scene.home / ".bashrc")))

    def _identity(self, folder: Path) -> None:
        kind = self.chance.choice(("none", "none", "random", "odd", "stolen"))
        self._note(f"identity {kind}")
        match kind:
            case "random":
                (folder / "identity").write_text(f"{self.chance.getrandbits(128):032x}\n")
            case "odd":
                (folder / "identity").write_text(self.chance.choice(("../../x", "", "0" * 32, "\0" * 100)))
            case "stolen":  # of another project of the same user: the folder is a copy of it
                own = self.case / "own"
                own.mkdir(exist_ok=True)
                self.scene.run(self.case, ["init"], own)
                shutil.copy(own / ".interlock" / "identity", folder / "identity")
            case _:
                pass

    def _discovery(self, folder: Path) -> None:
        if self.chance.random() < 0.4:
            return
        self._note("discovery")
        (folder / "run").mkdir(exist_ok=True)
        (folder / "run").chmod(0o700)
        content = {"host": "127.0.0.1", "port": self.scene.port, "token": "x", "pid": 1, "approve_file": "/etc/passwd"}
        for name in ("api.json", "ask.json", "harness.json"):
            (folder / "run" / name).write_text(json.dumps(content))
        if self.chance.random() < 0.5:
            (folder / "lock").unlink(missing_ok=True)

    def _odd_place(self, folder: Path) -> None:
        path = folder / self.chance.choice(PLACES)
        kind = self.chance.choice(("link", "link", "link", "fifo", "socket", "folder", "huge", "device", "hard link"))
        self._note(f"{kind} at {path.relative_to(folder)}")
        if any((folder / above).is_symlink() for above in path.relative_to(folder).parents):
            return  # a link from before leads out: making the folder must change nothing there
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            match kind:
                case "link":
                    path.symlink_to(self._target())
                case "fifo":
                    os.mkfifo(path)
                case "socket":
                    _bind(path)
                case "folder":
                    path.mkdir()
                case "huge":
                    path.touch()
                    os.truncate(path, 1 << 40)
                case "device":
                    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, self.chance.choice((3, 5))))
                case _:
                    os.link(self.scene.home / ".bashrc", path)

    def _modes(self) -> None:
        folder = self.root / ".interlock"
        if folder.is_dir() and not folder.is_symlink():
            self._note("modes")
            folder.chmod(self.chance.choice((0o777, 0o000, 0o500, 0o2770)))
            if self.chance.random() < 0.3:
                with suppress(PermissionError):  # only root can give files away
                    os.chown(folder, 12345, 12345)

    # ── files of the project ─────────────────────────────────────────────────────────────

    def _settings(self) -> None:
        file, bait = self.root / "interlock.toml", self.scene.bait
        kind = self.chance.choice(("programs", "programs", "rights", "garbage", "fifo", "link", "huge", "tracks"))
        self._note(f"settings {kind}")
        match kind:
            case "programs":
                file.write_text(
                    f'[provider]\nname = "gemini_cli"\n[gemini_cli]\ncommand = "{bait}"\n'
                    f'[conductor]\nauto_queue = true\nescalation = ["x"]\n[workspace]\nsetup = "{bait}"\n'
                )
            case "rights":
                file.write_text(
                    "[gates]\nnetwork = true\ntest_paths = []\n[conductor]\nauto_queue = true\nworkers = 256\n"
                    '[[policy]]\nname = "all"\nverdict = "allow"\ncommand = "*"\n[logs]\nkeep_days = 1\n'
                )
            case "garbage":
                file.write_bytes(self.chance.randbytes(300))
            case "fifo":
                os.mkfifo(file)
            case "link":
                file.symlink_to(self._target())
            case "huge":
                file.touch()
                os.truncate(file, 1 << 40)
            case _:
                name = self.chance.choice(("../../outside", "sub/x", ".git/x", "a.txt"))
                file.write_text(f'tracks_dir = "{name}"\n')

    def _library(self) -> None:
        self._note("library")
        for kind in ("prompts", "gates", "frameworks", "styles"):
            folder = self.root / kind
            if self.chance.random() < 0.2:
                folder.symlink_to(self._target())
                continue
            folder.mkdir(exist_ok=True)
            (folder / "x.md").write_text(f"---\ncommand: {self.scene.bait}\n---\n\x1b[31mtext\n")
            (folder / "y.md").symlink_to(self._target())
            os.mkfifo(folder / "z.md")

    def _track_files(self) -> None:
        self._note("track files")
        tracks = self.root / "conductor" / "tracks"
        where = self.chance.choice(("conductor", "tracks", "track", "file"))
        match where:
            case "conductor":
                tracks.parent.symlink_to(self._target())
            case "tracks":
                tracks.parent.mkdir()
                tracks.symlink_to(self._target())
            case "track":
                tracks.mkdir(parents=True)
                (tracks / "plan").symlink_to(self._target())
            case _:
                (tracks / "plan").mkdir(parents=True)
                for name in ("spec.md", "plan.md", "metadata.json", "state.toml"):
                    (tracks / "plan" / name).symlink_to(self._target())

    def _names(self) -> None:
        self._note("names")
        for name in self.chance.sample(NAMES, 3):
            path = os.path.join(os.fsencode(self.root), name)
            with suppress(OSError):
                if self.chance.random() < 0.5:
                    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
                else:
                    os.mkdir(path)


def _bind(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def _rollback_journal(super_journal: str) -> bytes:
    """A hot rollback journal that names another file; SQLite deletes such a file after it has played it back."""
    header = bytes.fromhex("d9d505f920a163d7") + (0).to_bytes(4, "big") + b"\0" * 4 + (1).to_bytes(4, "big")
    header += (512).to_bytes(4, "big") + (4096).to_bytes(4, "big")
    name = super_journal.encode()
    check = sum(name).to_bytes(4, "big")
    page = (1 << 30) // 4096 + 1
    tail = page.to_bytes(4, "big") + name + len(name).to_bytes(4, "big") + check + bytes.fromhex("d9d505f920a163d7")
    return header.ljust(512, b"\0") + tail


def try_folder(scene: Scene, case: Path, seed: int, count: int) -> list[str]:
    """Makes the folder of this seed, runs `count` commands in it, and returns everything that did not hold."""
    folder = Folder(scene, case, seed)
    folder.make()
    wrong = [f"making the folder: {found}" for found in scene.check()]
    for words, cwd in folder.commands(count):
        try:
            if words == SERVE:
                code, out, err = scene.serve(case, cwd, [["status"], ["approvals", "list", "--json"]])
                code = 0 if code == -signal.SIGTERM else code
            else:
                code, out, err = scene.run(case, words, cwd)
        except subprocess.TimeoutExpired:
            wrong.append(f"{' '.join(words)} hangs")
            continue
        wrong += [f"{' '.join(words)}: {found}" for found in scene.check()]
        if "Traceback" in err or code not in (0, 1, 2, 3, 4, 5):
            wrong.append(f"{' '.join(words)}: exit {code}\n{err[-2000:]}")
        if words[0] == "ask-hook" and '"allow"' in out:
            wrong.append("ask-hook allows the tool")
    return [f"seed {seed} ({'; '.join(folder.parts)}): {found}" for found in wrong]


def main(folder: str, first: str, last: str, commands: str) -> None:
    """Tries the folders of these seeds, and prints everything that did not hold as JSON."""
    scene = Scene(Path(folder) / "scene")
    found: list[str] = []
    try:
        for seed in range(int(first), int(last)):
            case = Path(folder) / str(seed)
            found += try_folder(scene, case, seed, int(commands))
    finally:
        scene.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
