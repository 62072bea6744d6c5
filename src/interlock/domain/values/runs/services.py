"""Services: programs such as databases that run beside a command, inside its sandbox."""

import shlex
from collections.abc import Callable
from hashlib import sha256

from msgspec import Struct
from msgspec.json import Encoder

HOST = "127.0.0.1"
_exact = Encoder(order="deterministic")


class Service(Struct, frozen=True, kw_only=True):
    name: str
    command: str
    ready: str = ""  # a shell command that succeeds when the service can be used
    port: int = 0  # 0: none
    ready_timeout_s: int = 30
    env: tuple[tuple[str, str], ...] = ()  # for the service and its ready check only

    @property
    def prefix(self) -> str:
        return variable_prefix(self.name)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that every command of the job gets."""
        port = (f"{self.prefix}_HOST", f"{self.prefix}_PORT") if self.port else ()
        return (*port, f"{self.prefix}_DATA")

    def script(self, command: str) -> str:
        """The command or the ready check, with the service's own variables."""
        own = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in self.env)
        return f"{own}{command}" if command else ""

    def shown(self, redact: Callable[[str], str]) -> str:
        """One line for a person who decides. The digest covers every field exactly, also a redacted part."""
        digest = sha256(_exact.encode(self)).hexdigest()[:16]
        parts = (
            f"{self.name}: {self.command}",
            f"port {self.port}" if self.port else "",
            f"ready when: {self.ready}" if self.ready else "",
            f"with {' '.join(name for name, _ in self.env)}" if self.env else "",
            f"digest {digest}",
        )
        return redact("; ".join(filter(None, parts)))


def variable_prefix(name: str) -> str:
    return name.upper().replace("-", "_")
