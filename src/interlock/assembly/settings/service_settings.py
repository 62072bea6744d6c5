"""The settings of services: `[workspace.services.NAME]`."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from interlock.domain.values.runs.services import Service, variable_prefix

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ServiceSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    command: Annotated[
        str,
        Meta(
            pattern=r"\S",
            description="Shell command that runs the service, in the project's folder of the worktree",
            extra={"allowed": "a text that is not empty"},
        ),
    ]
    ready: Annotated[
        str, Meta(description="Shell command that succeeds when the service can be used; without it the port decides")
    ] = ""
    port: Annotated[
        int,
        Meta(
            ge=0,
            le=65535,
            description="TCP port that the service listens on; 0: none",
            extra={"allowed": "a whole number from 1024 to 65535, or 0"},
        ),
    ] = 0
    ready_timeout_s: Annotated[
        int,
        Meta(ge=1, le=600, description="Seconds until the service must be ready; the timeout of the job counts too"),
    ] = 30
    env: Annotated[
        dict[str, str],
        Meta(
            description="Variables of the service and its ready check",
            extra={"allowed": 'a table of texts such as { LANG = "C" }'},
        ),
    ] = {}


Path = tuple[str, ...]


def problems(services: Mapping[str, ServiceSettings]) -> Iterator[tuple[Path, str]]:
    """Mistakes that concern names, or several services: the path below `workspace.services`, and a sentence."""
    prefixes: dict[str, str] = {}
    ports: dict[int, str] = {}
    for name, service in services.items():
        if not _NAME.fullmatch(name):
            yield (
                (name,),
                f"the name {name[:40]!r} of a service must begin with a letter a-z and hold at most 32 of a-z 0-9 _ -",
            )
        if 0 < service.port < 1024:
            sentence = "must be 1024 or more: a command in the sandbox cannot use"
            yield (name, "port"), f"workspace.services.{name}.port {sentence} {service.port}"
        if not service.port and not service.ready.strip():
            yield (name,), f"workspace.services.{name} needs a port or a ready check, which tell that it runs"
        for variable in service.env:
            if not _VARIABLE.fullmatch(variable):
                yield (
                    (name, "env"),
                    f"workspace.services.{name}.env: {variable[:40]!r} cannot be the name of a variable",
                )
        if (other := prefixes.setdefault(variable_prefix(name), name)) != name:
            yield (name,), f"the services {other} and {name} would have the same variables {variable_prefix(name)}_…"
        if service.port and (other := ports.setdefault(service.port, name)) != name:
            yield (name,), f"the services {other} and {name} have the same port {service.port}"


def services_of(settings: Mapping[str, ServiceSettings]) -> tuple[Service, ...]:
    """In the order of the file, which is the order of their start."""
    return tuple(
        Service(
            name=name,
            command=service.command,
            ready=service.ready,
            port=service.port,
            ready_timeout_s=service.ready_timeout_s,
            env=tuple(service.env.items()),
        )
        for name, service in settings.items()
    )
