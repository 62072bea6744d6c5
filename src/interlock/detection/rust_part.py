"""Detects a Rust project: its workspace, its vendored packages and its toolchain."""

import os
import re

from interlock.detection.folder import ProjectFolder, inner, table, texts
from interlock.detection.found import Missing, Part
from interlock.detection.machine import Machine
from interlock.detection.toolchains.installed import debian_version, fits

_CONFIGS = (".cargo/config.toml", ".cargo/config")
_CHANNEL = re.compile(r"(?:stable|beta|nightly)(?:-\d{4}-\d\d-\d\d)?|\d+\.\d+(?:\.\d+)?", re.ASCII)
_LISTS = ("dependencies", "dev-dependencies", "build-dependencies", "target", "workspace")


def rust_part(folder: ProjectFolder, machine: Machine) -> Part | None:
    if not folder.has("Cargo.toml"):
        return None
    cargo = folder.toml("Cargo.toml")
    vendored = _vendored(folder)
    locked = folder.has("Cargo.lock")
    evidence = ["Cargo.toml", "Cargo.lock" if locked else "no Cargo.lock"]
    if inner(cargo, "workspace"):
        evidence.append("a workspace of several packages")
    if vendored:
        evidence.append(f"packages in {vendored}")
    channel, source = _channel(folder)
    if channel:
        evidence.append(f"Rust {channel}, by {source}")
    program, missing = _toolchain(machine, channel, source)
    needs_packages = not vendored and any(cargo.get(name) for name in _LISTS)
    everything = " --workspace" if inner(cargo, "workspace") and "package" in cargo else ""
    return Part(
        name="Rust",
        evidence=tuple(evidence),
        prepare=(f"cargo fetch{' --locked' if locked else ''}",) if needs_packages else (),
        tests=f"cargo test{everything} --offline",
        tests_from="Cargo.toml",
        programs=(program,) if program else (),
        missing=(missing,) if missing else (),
        sources=folder.count(".rs"),
    )


def _vendored(folder: ProjectFolder) -> str:
    """The folder that replaces the registry; empty without one."""
    for name in _CONFIGS:
        for source in inner(folder.toml(name), "source").values():
            place = table(source).get("directory") or table(source).get("local-registry")
            if isinstance(place, str) and folder.is_folder(place):
                return place
    return ""


def _channel(folder: ProjectFolder) -> tuple[str, str]:
    """The toolchain that a file names, and the file."""
    for name in ("rust-toolchain.toml", "rust-toolchain"):
        found: object = inner(folder.toml(name), "toolchain").get("channel")
        text = found if isinstance(found, str) else folder.text(name)
        if match := _CHANNEL.match(text.strip()):
            return match[0], name
    if match := re.search(rf"^rust[ \t]+({_CHANNEL.pattern})", folder.text(".tool-versions"), re.MULTILINE):
        return match[1], ".tool-versions"
    for name in ("mise.toml", ".mise.toml"):
        tools = inner(folder.toml(name), "tools")
        named = (tools.get("rust"), *texts(tools.get("rust")))
        for one in named:
            if isinstance(one, str) and (match := _CHANNEL.match(one)):
                return match[0], name
    return "", ""


def _toolchain(machine: Machine, channel: str, source: str) -> tuple[str, Missing | None]:
    """The cargo of a toolchain of rustup, or what is missing. Its proxies work only with the user's own home."""
    cargo = machine.find("cargo")
    if not cargo:
        return "", Missing("Rust", "install Rust by rustup, or on Debian: apt-get install cargo")
    root = _rustup_home(machine, cargo)
    names = sorted(_names(os.path.join(root, "toolchains"))) if root else []
    wanted = channel or _default(root)
    for name in names if wanted else ():
        program = os.path.join(root, "toolchains", name, "bin", "cargo")
        if name.startswith((f"{wanted}-", f"{wanted}.")) or name == wanted:
            return (program, None) if os.access(program, os.X_OK) else ("", None)
    is_system = os.path.realpath(cargo).startswith("/usr/bin/")
    if not channel or (is_system and channel[0].isdigit() and fits(debian_version(machine, "rustc"), channel)):
        return "", None
    remedy = f"rustup toolchain install {channel}" if root else "install rustup: it keeps several versions of Rust"
    return "", Missing(f"Rust {channel}, which {source} names", remedy)


def _rustup_home(machine: Machine, cargo: str) -> str:
    """Where rustup keeps its toolchains: by its variable, in the home, or beside the folder of its programs."""
    if not os.path.exists(os.path.join(os.path.dirname(cargo), "rustup")):
        return ""
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(cargo))), ".rustup")
    places = (machine.env.get("RUSTUP_HOME", ""), os.path.join(machine.home, ".rustup"), beside)
    return next((place for place in places if place and os.path.isdir(place)), "")


def _default(root: str) -> str:
    try:
        with open(os.path.join(root, "settings.toml"), encoding="utf-8", errors="replace") as file:
            match = re.search(r'^default_toolchain = "([\w.-]+)"', file.read(100_000), re.MULTILINE)
    except OSError:
        return ""
    return match[1] if match else ""


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
