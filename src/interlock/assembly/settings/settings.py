"""The settings, and how they are read from the user's file and the project's file.

Every key is defined once, with its type, its default and its description. Error messages and the page
`docs/settings.md` are made from these definitions.
"""

import difflib
import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args, get_origin

import msgspec
from msgspec import Meta

from interlock.assembly.settings.toml_lines import key_lines
from interlock.errors import Misconfigured

_INSIDE_THE_PROJECT = r"^(?!.*(^|/)(\.\.|\.git|\.interlock)(/|$))[^/\\\x00-\x1f][^\\\x00-\x1f]*\Z"

Texts = tuple[str, ...]


class ConductorSettings(msgspec.Struct, frozen=True):
    auto_queue: Annotated[bool, Meta(description="Ready tickets start by themselves; off: each asks first")] = False
    workers: Annotated[int, Meta(ge=1, le=256, description="How many attempts run at once")] = 4
    max_tool_rounds: Annotated[
        int, Meta(ge=1, le=1000, description="Rounds of tools a worker gets for one request; then its ticket blocks")
    ] = 50
    discussion_tool_rounds: Annotated[
        int, Meta(ge=1, le=1000, description="Rounds of tools that a turn of a discussion may take")
    ] = 10
    analyse_failures: Annotated[
        bool, Meta(description="A worker's script that fails is looked at by Tier 4, which says the cause and a fix")
    ] = True
    escalation: Annotated[Texts, Meta(description="Models to try after failures, weakest first")] = ()


class Provider(msgspec.Struct, frozen=True):
    name: Annotated[str | None, Meta(description="Who is asked where no `--provider` says so")] = None
    model: Annotated[str | None, Meta(description="The model where no tier has its own; unset: the provider's")] = None
    temperature: Annotated[float, Meta(ge=0, le=2, description="How freely models answer; 0: as alike as they can")] = (
        0.0
    )
    max_output_tokens: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Tokens of one answer; never more than the model can give")
    ] = 8192
    max_in_flight: Annotated[int, Meta(ge=1, le=256, description="Calls of one provider under way at once")] = 16
    requests_per_minute: Annotated[
        int, Meta(ge=0, le=1_000_000, description="Calls of one provider begun in a minute; 0: as many as come")
    ] = 0


_AN_ADDRESS = {"allowed": "an address that begins with http:// or https://"}


class Endpoints(msgspec.Struct, frozen=True):
    """Addresses that replace the providers' own; only in the user's file."""

    anthropic: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Instead of Anthropic's own", extra=_AN_ADDRESS)
    ] = ""
    gemini: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Instead of Google's own", extra=_AN_ADDRESS)
    ] = ""
    openai: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Instead of OpenAI's own", extra=_AN_ADDRESS)
    ] = ""
    deepseek: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Instead of DeepSeek's own", extra=_AN_ADDRESS)
    ] = ""
    openrouter: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Instead of OpenRouter's own", extra=_AN_ADDRESS)
    ] = ""
    ollama: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Where Ollama listens", extra=_AN_ADDRESS)
    ] = ""
    llama_cpp: Annotated[
        str, Meta(pattern=r"^(https?://\S+)?$", description="Where llama.cpp's server listens", extra=_AN_ADDRESS)
    ] = ""
    vllm: Annotated[str, Meta(pattern=r"^(https?://\S+)?$", description="Where vLLM listens", extra=_AN_ADDRESS)] = ""


class ModelPrice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens. Without cache prices, cached tokens cost the same as input."""

    input: Annotated[float, Meta(ge=0, le=1e6)]
    output: Annotated[float, Meta(ge=0, le=1e6)]
    cache_read: Annotated[float, Meta(ge=0, le=1e6)] | None = None
    cache_write: Annotated[float, Meta(ge=0, le=1e6)] | None = None


class GeminiCliSettings(msgspec.Struct, frozen=True):
    command: Annotated[
        str,
        Meta(
            min_length=1,
            description="Command line of the agent, split as a shell would; in a project file only after you trust it",
        ),
    ] = "gemini"
    timeout_s: Annotated[int, Meta(ge=1, le=86400, description="Seconds that one answer of the agent may take")] = 600


class Models(msgspec.Struct, frozen=True):
    """The model of each tier; unset means the provider's default."""

    tier1: Annotated[str | None, Meta(description="The model of orchestrators")] = None
    tier2: Annotated[str | None, Meta(description="The model of tech leads")] = None
    tier3: Annotated[str | None, Meta(description="The model of workers, before any escalation")] = None
    tier4: Annotated[str | None, Meta(description="The model that analyses failures")] = None
    discussion: Annotated[str | None, Meta(description="The model of discussions")] = None


class Gates(msgspec.Struct, frozen=True):
    max_attempts: Annotated[int, Meta(ge=1, le=1000, description="Attempts a gate gives before it escalates")] = 5
    timeout_s: Annotated[int, Meta(ge=1, le=600, description="Seconds a gate's command may take")] = 300
    network: Annotated[bool, Meta(description="Gates have the network; in a project file only after you trust it")] = (
        False
    )
    stuck_after: Annotated[
        int, Meta(ge=0, le=1000, description="The same failure this often in a row escalates early; 0: never")
    ] = 3
    test_paths: Annotated[
        Texts, Meta(description="Files that are tests: a worker that changes an existing one stops for a human")
    ] = ("tests/**", "test_*", "*_test.*", "*.spec.*")


class WorkspaceSettings(msgspec.Struct, frozen=True):
    setup: Annotated[
        str | None,
        Meta(description="Shell command run once in each new worktree; in a project file only after you trust it"),
    ] = None
    setup_timeout_s: Annotated[int, Meta(ge=1, le=86400, description="Seconds that command may take")] = 600


class ApprovalSettings(msgspec.Struct, frozen=True):
    deadline_s: Annotated[
        int,
        Meta(ge=0, le=31_536_000, description="A question nobody answers for so many seconds is denied; 0: it waits"),
    ] = 0


_NO_LIMIT = "0: no limit"


class Budgets(msgspec.Struct, frozen=True):
    """A project's file can lower the user's limits, but not raise them."""

    epic_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most each epic may cost; {_NO_LIMIT}")] = 0
    track_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most each track may cost; {_NO_LIMIT}")] = 0
    ticket_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most each ticket may cost; {_NO_LIMIT}")] = 0
    tier1_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most orchestrators may cost; {_NO_LIMIT}")] = 0
    tier2_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most tech leads may cost; {_NO_LIMIT}")] = 0
    tier3_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most workers may cost; {_NO_LIMIT}")] = 0
    tier4_usd: Annotated[float, Meta(ge=0, le=1e6, description=f"The most analyses may cost; {_NO_LIMIT}")] = 0


class LimitSettings(msgspec.Struct, frozen=True):
    """A project's file can lower the user's limits, but not raise them."""

    processes: Annotated[
        int,
        Meta(ge=0, le=4_000_000, description=f"Processes a command may have at once, all killed beyond; {_NO_LIMIT}"),
    ] = 4096
    memory_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description=f"Megabytes each of its processes can write to, 64 at the least; {_NO_LIMIT}",
        ),
    ] = 0
    open_files: Annotated[
        int,
        Meta(
            ge=0, le=1_000_000, description=f"Files each of its processes may have open, 256 at the least; {_NO_LIMIT}"
        ),
    ] = 0


class JournalSettings(msgspec.Struct, frozen=True):
    checkpoint_every: Annotated[
        int, Meta(ge=1, le=10_000_000, description="Events between two state checkpoints, which make opening quick")
    ] = 20_000


class Logs(msgspec.Struct, frozen=True):
    keep_days: Annotated[int, Meta(ge=1, le=36500, description="Days after which logs and generated scripts go")] = 30


class HistorySettings(msgspec.Struct, frozen=True):
    keep: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Test executions that lists and figures are made of; older ones go")
    ] = 10_000
    keep_days: Annotated[
        int, Meta(ge=1, le=36500, description="Days after which executions and files in .interlock/artifacts go")
    ] = 90


class Settings(msgspec.Struct, frozen=True):
    sandbox: Annotated[
        Literal["auto", "bubblewrap", "landlock", "off"],
        Meta(description="What commands run in; `off` counts only in the user's file, and a project can only tighten"),
    ] = "auto"
    crew: Annotated[Literal["local"], Meta(description="Where attempts run")] = "local"
    tracks_dir: Annotated[
        str,
        Meta(
            pattern=_INSIDE_THE_PROJECT,
            description="Folder for the readable state of tracks",
            extra={"allowed": "a folder inside the project, such as 'conductor/tracks'"},
        ),
    ] = "conductor/tracks"
    conductor: ConductorSettings = ConductorSettings()
    provider: Provider = Provider()
    gemini_cli: GeminiCliSettings = GeminiCliSettings()
    models: Models = Models()
    endpoints: Endpoints = Endpoints()
    prices: Annotated[
        dict[str, ModelPrice],
        Meta(
            description="What models cost that Interlock has no price for, or another; only in the user's file",
            extra={
                "allowed": 'tables such as [prices."my-model"] with input, output, cache_read, cache_write: dollars per'
                " million tokens"
            },
        ),
    ] = {}
    gates: Gates = Gates()
    workspace: WorkspaceSettings = WorkspaceSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    budgets: Budgets = Budgets()
    limits: LimitSettings = LimitSettings()
    journal: JournalSettings = JournalSettings()
    logs: Logs = Logs()
    tests: HistorySettings = HistorySettings()


class Key(NamedTuple):
    """One documented setting."""

    name: str
    allowed: str
    default: str
    description: str


_ONLY_THE_USERS = {
    "endpoints": "set the addresses of models, because your keys are sent there",
    "prices": "set the prices of models, because your budgets depend on them",
}

# From most to least strict: the stricter of the two files' values is used. `auto` is never weaker than Landlock.
_STRICTNESS = ("bubblewrap", "auto", "landlock", "off")

_Table = dict[str, Any]


def user_settings_file(environ: Mapping[str, str], home: Path) -> Path:
    """`$XDG_CONFIG_HOME/interlock/config.toml`; a relative XDG_CONFIG_HOME counts as unset."""
    base = Path(environ.get("XDG_CONFIG_HOME", ""))
    return (base if base.is_absolute() else home / ".config") / "interlock" / "config.toml"


def load_settings(user_file: Path, project_file: Path) -> Settings:
    """Reads both files; either may be missing. The project's values override the user's, but cannot loosen them."""
    user = _read(user_file, str(user_file))
    project = _read(project_file, project_file.name)
    if project.values.get("sandbox") == "off":
        raise project.wrong(
            ("sandbox",),
            f'a project must not switch the sandbox off; to do so, write sandbox = "off" into {user_file}',
        )
    for name, why in _ONLY_THE_USERS.items():
        if name in project.values:
            raise project.wrong((name,), f"a project must not {why}; to do so, write [{name}] into {user_file}")
    merged = _merge(user.values, project.values)
    if levels := [file["sandbox"] for file in (user.values, project.values) if "sandbox" in file]:
        merged["sandbox"] = min(levels, key=_STRICTNESS.index)
    for table, defaults in (("budgets", Budgets()), ("limits", LimitSettings())):
        for name in project.values.get(table, {}):
            if most := user.values.get(table, {}).get(name, getattr(defaults, name)):
                merged[table][name] = min(most, merged[table][name] or most)
    return msgspec.convert(merged, Settings)


class Start(NamedTuple):
    """A program or right in a project's settings; the user trusts it by its digest."""

    key: str
    text: str
    what: str  # its effect, in words

    @property
    def digest(self) -> str:
        # Existing trust stores know the setup command by its text alone.
        named = self.text if self.key == _SETUP else f"{self.key}\0{self.text}"
        return hashlib.sha256(named.encode()).hexdigest()


_SETUP = "workspace.setup"


def started_by(project: Settings, own: Settings) -> tuple[Start, ...]:
    """The programs and rights that are in the merged settings but not in the user's own."""
    starts: list[Start] = []
    if project.workspace.setup is not None and project.workspace.setup != own.workspace.setup:
        starts.append(Start(_SETUP, project.workspace.setup, "run in every new worktree"))
    if project.gemini_cli.command != own.gemini_cli.command:
        starts.append(Start("gemini_cli.command", project.gemini_cli.command, "run as the model gemini_cli"))
    if project.gates.network and not own.gates.network:
        starts.append(Start("gates.network", "the network", "granted to every gate"))
    return tuple(starts)


def documented_keys() -> tuple[Key, ...]:
    return tuple(
        Key(".".join(path), _allowed(field), _shown(field.default), _meta(field).description or "")
        for path, field in _leaves(Settings, ())
    )


class _File(NamedTuple):
    """The content of a settings file; empty if the file does not exist."""

    label: str
    lines: Mapping[tuple[str, ...], int]
    values: _Table

    def wrong(self, path: tuple[str, ...], message: str) -> Misconfigured:
        return Misconfigured(f"{self.label}:{self.lines[path]}: {message}")


def _read(path: Path, label: str) -> _File:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return _File(label, {}, {})
    except OSError as error:
        raise Misconfigured(f"{label}: cannot be read: {error.strerror}") from error
    try:
        text = data.decode().replace("\r\n", "\n")
        values = tomllib.loads(text)
        file = _File(label, key_lines(text), values)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Misconfigured(f"{label}:{line}: not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(_syntax_message(label, data, str(error))) from error
    except RecursionError as error:
        raise Misconfigured(f"{label}: nested too deeply") from error
    _check(file, file.values, Settings, ())
    return file


def _syntax_message(label: str, data: bytes, message: str) -> str:
    reason = re.sub(r" \(at .*\)$", "", message)
    if match := re.search(r"\(at line (\d+), column (\d+)\)", message):
        return f"{label}:{match[1]}: not valid TOML: {reason} (column {match[2]})"
    return f"{label}:{len(data.splitlines())}: not valid TOML: {reason} (at the end of the file)"


def _check(file: _File, table: _Table, struct: type[msgspec.Struct], path: tuple[str, ...]) -> None:
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    for name, value in table.items():
        here = (*path, name)
        if here == ("policy",):  # the policy package reads and checks the rules
            if not isinstance(value, list) or not all(isinstance(rule, dict) for rule in cast(list[object], value)):
                raise file.wrong(here, "policy must be a list of tables, each under [[policy]]")
            continue
        if (field := fields.get(name)) is None:
            raise file.wrong(here, f"unknown key {'.'.join(here)!r}; {_suggestion(name, struct)}")
        if inner := _table_type(field):
            if not isinstance(value, dict):
                raise file.wrong(here, f"{'.'.join(here)} must be a table, not {_shown(value)}")
            _check(file, cast(_Table, value), inner, here)
            continue
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            message = f"{'.'.join(here)} must be {_allowed(field)}, not {_shown(value)}"
            raise file.wrong(here, message) from error


def _suggestion(name: str, struct: type[msgspec.Struct]) -> str:
    here = [field.name for field in msgspec.structs.fields(struct)]
    elsewhere = {path[-1]: ".".join(path) for path, _ in _leaves(Settings, ())}
    if name not in elsewhere and (near := difflib.get_close_matches(name, here, n=1)):
        return f"did you mean {near[0]!r}?"
    if near := difflib.get_close_matches(name, elsewhere, n=1):
        return f"did you mean {elsewhere[near[0]]!r}?"
    return f"known here: {', '.join(here)}"


def _merge(under: _Table, over: _Table) -> _Table:
    merged = dict(under)
    for name, value in over.items():
        below = merged.get(name)
        both_tables = isinstance(below, dict) and isinstance(value, dict)
        merged[name] = _merge(cast(_Table, below), cast(_Table, value)) if both_tables else value
    return merged


def _leaves(
    struct: type[msgspec.Struct], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], msgspec.structs.FieldInfo]]:
    for field in msgspec.structs.fields(struct):
        here = (*path, field.name)
        if inner := _table_type(field):
            yield from _leaves(inner, here)
        else:
            yield here, field


def _table_type(field: msgspec.structs.FieldInfo) -> type[msgspec.Struct] | None:
    if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
        return field.type
    return None


def _meta(field: msgspec.structs.FieldInfo) -> Meta:
    return field.type.__metadata__[0]


def _allowed(field: msgspec.structs.FieldInfo) -> str:
    meta = _meta(field)
    if meta.extra:
        return meta.extra["allowed"]
    kind = get_args(field.type)[0]
    if kind is bool:
        return "true or false"
    if kind is float:
        return f"a number from {meta.ge:g} to {meta.le:g}"
    if kind is int:
        return f"a whole number from {meta.ge} to {meta.le}"
    if kind == Texts:
        return "a list of texts"
    if get_origin(kind) is Literal:
        return " or ".join(_shown(choice) for choice in get_args(kind))
    return "a text"


def _shown(value: object) -> str:
    """A value in TOML notation, shortened."""
    match value:
        case None:
            return "unset"
        case bool():
            return str(value).lower()
        case dict():
            return "a table" if value else "none"
        case list() | tuple():
            items = cast(list[object], value)
            return _short(f"[{', '.join('[…]' if isinstance(item, list) else _shown(item) for item in items)}]")
        case str():
            return repr(_short(value))
        case _:
            return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
