"""Reads the settings from the user's file and the project's file, and reports mistakes by file and line."""

import difflib
import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

import msgspec
from msgspec import Meta

from interlock.assembly.settings.prompt_files import BadPrompt, with_texts
from interlock.assembly.settings.rights import EXPLAINED, RIGHTS, Right
from interlock.assembly.settings.service_settings import problems as service_problems
from interlock.assembly.settings.settings import Settings, Texts
from interlock.assembly.settings.toml_lines import key_lines
from interlock.errors import Misconfigured
from interlock.identity.careful import read_plain


class Key(NamedTuple):
    """One documented setting."""

    name: str
    allowed: str
    default: str
    description: str
    needs_trust: str


_ONLY_THE_USERS = {
    "endpoints": "set the addresses of models, because your keys are sent there",
    "secrets": "name the files that hold secrets, because it could open yours",
    "web_search": "choose the search provider, because your key and your questions are sent there",
    "prices": "set the prices of models, because your budgets depend on them",
    "agents": "choose programs that run with your logins",
}

# From most to least strict: the stricter of the two files' values is used. `auto` is never weaker than Landlock.
_STRICTNESS = ("bubblewrap", "auto", "landlock", "off")

_Table = dict[str, Any]
_S = TypeVar("_S", bound=msgspec.Struct)
_MOST_BYTES = 4_000_000
_NONE = Path(os.devnull)


def user_settings_file(environ: Mapping[str, str], home: Path) -> Path:
    """`$XDG_CONFIG_HOME/interlock/config.toml`; a relative XDG_CONFIG_HOME counts as unset."""
    base = Path(environ.get("XDG_CONFIG_HOME", ""))
    return (base if base.is_absolute() else home / ".config") / "interlock" / "config.toml"


def load_settings(user_file: Path, project_file: Path) -> Settings:
    """Reads both files; either may be missing. The project's values override the user's, but cannot loosen them."""
    user = _with_prompts(_read(user_file, str(user_file)), user_file.parent, beneath=False)
    project = _with_prompts(_read(project_file, project_file.name), project_file.parent, beneath=True)
    if project.values.get("sandbox") == "off":
        raise project.wrong(
            ("sandbox",),
            f'a project must not switch the sandbox off; to do so, write sandbox = "off" into {user_file}',
        )
    for name, why in _ONLY_THE_USERS.items():
        if name in project.values:
            raise project.wrong((name,), f"a project must not {why}; to do so, write [{name}] into {user_file}")
    if "servers" in project.values.get("mcp", {}):
        raise project.wrong(
            ("mcp", "servers"),
            f"a project must not give rights to MCP servers; write [mcp.servers] into {user_file}",
        )
    merged = _merge(user.values, project.values)
    if levels := [file["sandbox"] for file in (user.values, project.values) if "sandbox" in file]:
        merged["sandbox"] = min(levels, key=_STRICTNESS.index)
    for path, field in _leaves(Settings, ()):
        table, name = path[0], path[-1]
        if _right(path) != "tightens" or len(path) == 1 or name not in project.values.get(table, {}):
            continue
        if get_origin(get_args(field.type)[0]) is tuple:  # a list of what is switched off: both files count
            merged[table][name] = [*user.values.get(table, {}).get(name, ()), *project.values[table][name]]
        elif isinstance(field.default, bool):  # true loosens
            merged[table][name] = user.values.get(table, {}).get(name, field.default) and project.values[table][name]
        elif most := user.values.get(table, {}).get(name, field.default):
            merged[table][name] = min(most, merged[table][name] or most)
    settings = msgspec.convert(merged, Settings)
    for path, message in service_problems(settings.workspace.services):
        place = ("workspace", "services", *path)
        raise (project if place in project.lines else user).wrong(place, message)
    return settings


class Start(NamedTuple):
    """A program, a right or a choice in a project's settings; the user trusts it by its digest."""

    key: str
    text: str
    what: str  # its effect, in words

    @property
    def digest(self) -> str:
        # Existing trust stores know the setup command by its text alone.
        named = self.text if self.key == _SETUP else f"{self.key}\0{self.text}"
        return hashlib.sha256(named.encode()).hexdigest()


_SETUP = "workspace.setup"
_WHAT = {
    _SETUP: "run in every new worktree",
    "workspace.prepare": "run with network, to install packages",
    "workspace.tests": "run as the gate `tests`",
    "workspace.path": "searched for programs before PATH, in every worktree",
    "workspace.services": "started beside each script and gate",
    "gemini_cli.command": "run as the model gemini_cli",
    "gates.network": "granted to every gate",
}


def started_by(project: Settings, own: Settings) -> tuple[Start, ...]:
    """The values that need trust, are in the merged settings and differ from the user's own."""
    starts: list[Start] = []
    for path, field in _leaves(Settings, ()):
        value = _value(project, path)
        if _right(path) in ("trust", "stops") and value != _value(own, path):
            key = ".".join(path)
            if key == "gates.network" and not value:
                continue  # less than the user's
            starts.append(Start(key, _text(key, value), _WHAT.get(key) or _meta(field).description or ""))
    return tuple(starts)


def with_own_values(project: Settings, own: Settings, keys: Iterable[str]) -> Settings:
    """The merged settings with the user's own values of these keys."""
    for key in keys:
        path = tuple(key.split("."))
        if _right(path) == "trust":
            project = _with_value(project, path, _value(own, path))
    return project


def _right(path: tuple[str, ...]) -> Right:
    return RIGHTS.get(".".join(path), "never")


def _value(settings: msgspec.Struct, path: tuple[str, ...]) -> Any:
    value: Any = settings
    for name in path:
        value = getattr(value, name)
    return value


def _with_value(settings: _S, path: tuple[str, ...], value: object) -> _S:
    name, *more = path
    inner = _with_value(getattr(settings, name), tuple(more), value) if more else value
    return msgspec.structs.replace(settings, **{name: inner})


def _text(key: str, value: object) -> str:
    if key == "gates.network":
        return "the network"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def documented_keys() -> tuple[Key, ...]:
    return keys_of(Settings)


def keys_of(struct: type[msgspec.Struct]) -> tuple[Key, ...]:
    return tuple(
        Key(
            ".".join(path),
            _allowed(field),
            "" if field.required else _shown(_default(field)),
            _meta(field).description or "",
            EXPLAINED[_right(path)],
        )
        for path, field in _leaves(struct, ())
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
        data = b"" if path == _NONE else read_plain(path, _MOST_BYTES, follow=True)
    except (FileNotFoundError, NotADirectoryError):
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


def _with_prompts(file: _File, folder: Path, *, beneath: bool) -> _File:
    if not (prompts := file.values.get("prompts")):
        return file
    try:
        texts = with_texts(prompts, folder, beneath=beneath)
    except BadPrompt as error:
        raise file.wrong(("prompts", error.key), f"prompts.{error.key}: {error}") from None
    return file._replace(values={**file.values, "prompts": texts})


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
        if each := (_meta(field).extra or {}).get("tables"):
            _check_tables(file, value, each, here)
            continue
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            message = f"{'.'.join(here)} must be {_allowed(field)}, not {_shown(value)}{_nearest_choice(field, value)}"
            raise file.wrong(here, message) from error


def _check_tables(file: _File, value: object, struct: type[msgspec.Struct], path: tuple[str, ...]) -> None:
    """Checks tables whose names the user chooses."""
    tables = cast(_Table, value) if isinstance(value, dict) else {"": value}
    for name, table in tables.items():
        here = (*path, name) if name else path
        if not isinstance(table, dict):
            raise file.wrong(here, f"{'.'.join(here)} must be a table, not {_shown(table)}")
        _check(file, cast(_Table, table), struct, here)
        for field in msgspec.structs.fields(struct):
            if field.required and field.name not in table:
                raise file.wrong(here, f"{'.'.join(here)} needs {field.name}: {_allowed(field)}")


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


def _default(field: msgspec.structs.FieldInfo) -> object:
    """The value of a setting that no file has; a mutable one is made by a factory."""
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory()


def _choices(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    """The values of a setting that has a fixed list of them."""
    kind = get_args(field.type)[0]
    return next((get_args(part) for part in (kind, *get_args(kind)) if get_origin(part) is Literal), ())


def _nearest_choice(field: msgspec.structs.FieldInfo, value: object) -> str:
    choices = [str(choice) for choice in _choices(field)]
    items = cast(list[object], value) if isinstance(value, list) else [value]
    wrong = next((str(item) for item in items if item not in choices), "")
    near = difflib.get_close_matches(wrong, choices, n=1)
    return f"; did you mean {_shown(near[0])}?" if near else ""


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
    if choices := _choices(field):
        return " or ".join(_shown(choice) for choice in choices)
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
