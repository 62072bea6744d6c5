"""Tests whether a sandbox keeps its guarantees on this machine. Containers often forbid an installed one."""

import os
import socket
import tempfile
import textwrap

from interlock.ports.processes import Finished, Job, Sandbox
from interlock.sandbox.jobs import jobs

# Each printed line is a broken guarantee.
_INSIDE = textwrap.dedent(
    """
    import os, socket, sys
    port, *hidden = sys.argv[1:]
    with open("written", "w") as file:
        file.write("yes")
    try:
        socket.create_connection(("127.0.0.1", int(port)), 1).close()
        print("the network can be reached from inside")
    except OSError:
        pass
    for path in hidden:
        try:
            open(path, "rb").close()
            print(path + " can be read from inside")
        except OSError:
            pass
    try:
        open("/usr/.interlock-probe", "w").close()
        print("system folders can be written from inside")
    except OSError:
        pass
    """
)


async def probe(sandbox: Sandbox) -> str | None:
    """None if all guarantees hold, else the reason to refuse."""
    with (
        tempfile.TemporaryDirectory(prefix="interlock-probe-") as folder,
        socket.create_server(("127.0.0.1", 0)) as here,
    ):
        return _judge(await sandbox.run(_job(folder, here.getsockname()[1])), folder)


def _job(folder: str, port: int) -> Job:
    home = os.path.expanduser("~")
    return Job(
        argv=(jobs.INTERPRETER, "-I", "-S", "-c", _INSIDE, str(port), *_files_of(home)),
        cwd=folder,
        env={"HOME": home, "PATH": os.environ.get("PATH", os.defpath)},
        writable=(folder,),
        timeout_s=20,
    )


def _judge(finished: Finished, folder: str) -> str | None:
    if finished.status != "exited" or finished.exit_code != 0:
        message = finished.message or finished.stderr.strip() or finished.status
        return f"a command run in it fails ({message.splitlines()[-1]})"
    if not os.path.exists(os.path.join(folder, "written")):
        return "what is written to a worktree inside does not arrive outside"
    return finished.stdout.strip().replace("\n", ", ") or None


def _files_of(home: str) -> list[str]:
    """Files at the top of HOME; none of them belongs to a tool."""
    try:
        return [entry.path for entry in os.scandir(home) if entry.is_file(follow_symlinks=False)][:50]
    except OSError:
        return []
