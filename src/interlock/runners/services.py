"""Runs a job with the project's services started inside it, beside its command.

The services are in the job's own network and process namespace. So jobs in parallel use the same ports without a
collision, and all services are dead when the job has ended. Where a job shares the network of the machine, each
service gets a free port.
"""

import contextlib
import os
import socket
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from importlib.resources import files as packaged_files

from msgspec.structs import replace

from interlock.domain.values.runs.services import HOST, Service
from interlock.ports.processes import Finished, Job, OnOutput, Sandbox
from interlock.ports.services import Services

TEXT = packaged_files("interlock.runners").joinpath("services.sh").read_text()
MARK = "\n[interlock services]\n"
_PRIVATE = "/tmp/interlock-services"  # a bubblewrap job has a /tmp of its own
_ANOTHER_PORT = (
    "This job shares the network of the machine, so each service gets a free port: use its variable NAME_PORT."
)
_MOST_REPORT = 65_536  # bytes at the end of the stored output


class JobServices:
    """Implements the port `Services`."""

    def __init__(self, sandbox: Sandbox, services: Sequence[Service], redact: Callable[[str], str] = str) -> None:
        self._sandbox = sandbox
        self._services = tuple(services)
        self._redact = redact
        self._taken: set[int] = set()  # ports of running jobs in the network of the machine

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(service.shown(self._redact) for service in self._services)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(service.name for service in self._services)

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for service in self._services for name in service.variables)

    async def run(self, job: Job, folder: str, on_stdout: OnOutput | None = None) -> Finished:
        if problem := level_problem(self._sandbox.level, self.names):
            return Finished(
                status="error", exit_code=-1, signal=None, stdout="", stderr="", duration_ms=0, message=problem
            )
        with contextlib.ExitStack() as closing:
            services, shared = self._services, job.network or self._sandbox.level == "off"
            if shared:
                services = closing.enter_context(self._with_free_ports())
            files = _PRIVATE
            if self._sandbox.level == "off":
                temporary = tempfile.TemporaryDirectory(prefix="interlock-services-", ignore_cleanup_errors=True)
                files = closing.enter_context(temporary)
            finished = await self._sandbox.run(with_services(job, services, files, folder), on_stdout)
        finished = with_report(finished, job.keep)
        if shared and "nothing listens on port" in finished.message:
            return replace(finished, message=f"{finished.message}\n{_ANOTHER_PORT}")
        return finished

    @contextlib.contextmanager
    def _with_free_ports(self) -> Generator[tuple[Service, ...]]:
        """The services with ports that are free now. Another program may take one before the service does."""
        chosen: list[Service] = []
        try:
            for service in self._services:
                port = _free_port(self._taken) if service.port else 0
                self._taken.add(port)
                chosen.append(replace(service, port=port))
            yield tuple(chosen)
        finally:
            self._taken.difference_update(service.port for service in chosen)


async def run_beside(
    services: Services | None, sandbox: Sandbox, job: Job, folder: str, on_stdout: OnOutput | None = None
) -> Finished:
    """Runs the job, with the project's services if it has any."""
    if services is None:
        return await sandbox.run(job, on_stdout)
    return await services.run(job, folder, on_stdout)


def level_problem(level: str, names: Sequence[str]) -> str:
    """Why services cannot run at this level of the sandbox; empty if they can."""
    if not names or level != "landlock":
        return ""
    return (
        f"[workspace.services] has {', '.join(names)}, and the sandbox level landlock refuses connections also among"
        " the processes of one command; install bubblewrap ('interlock doctor' says why it is not used)"
    )


def with_services(job: Job, services: Sequence[Service], files: str, folder: str) -> Job:
    """The job with its command after the services. `files` is where the services keep logs and data."""
    # Less time than the job has, so that the reason is reported before the job is stopped.
    seconds = 86_400 if job.timeout_s is None else job.timeout_s - min(1, job.timeout_s / 4)
    argv = ["sh", "-c", TEXT, "sh", files, folder, str(round(seconds * 100)), str(len(services))]
    for service in services:
        argv += [service.name, str(service.port), f"{service.port:04X}", str(service.ready_timeout_s * 100)]
        argv += [service.script(service.ready), service.script(service.command)]
    return replace(job, argv=(*argv, *job.argv), env={**job.env, **variables(services, files)})


def variables(services: Sequence[Service], files: str) -> Mapping[str, str]:
    values: dict[str, str] = {}
    for service in services:
        own = {"HOST": HOST, "PORT": str(service.port), "DATA": f"{files}/{service.name}/data"}
        values |= {name: own[name.rpartition("_")[2]] for name in service.variables}
    return values


def with_report(finished: Finished, keep: str | None) -> Finished:
    """Moves what is said about services from the end of standard error to `message`.

    The command can write the same marker. So the text explains a failure, and decides nothing.
    """
    if finished.status != "exited" or finished.exit_code == 0:
        return finished
    output, mark, _ = finished.stderr.partition(MARK)
    if not mark:
        return finished
    report = finished.stderr[len(output) :].replace(MARK, "\n").strip()
    if keep is not None:
        _cut_report(os.path.join(keep, "stderr"))
    return replace(finished, stderr=output, message=report)


def _cut_report(path: str) -> None:
    """Cuts the same text from the stored output."""
    with contextlib.suppress(OSError), open(path, "r+b") as file:
        start = max(os.fstat(file.fileno()).st_size - _MOST_REPORT, 0)
        file.seek(start)
        at = file.read().find(MARK.encode())
        if at >= 0:
            file.truncate(start + at)


def _free_port(taken: set[int]) -> int:
    """A port that nothing listens on and no running job of ours was given."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as candidate:
            candidate.bind((HOST, 0))
            port: int = candidate.getsockname()[1]
        if port not in taken:
            return port
