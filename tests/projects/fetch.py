"""Fetches one project of the corpus by name and makes a git repository of it, as a clone would be.

Only the package tools of this machine reach the network, each with its own settings: pip, npm and apt-get.
`python -m tests.projects.fetch NAME FOLDER`
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.projects.corpus import Project, corpus

APT_SETTINGS = Path("/etc/apt")
WAIT_S = 300
COMMIT = (
    *("-c", "user.name=corpus", "-c", "user.email=corpus@example.org"),
    *("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false"),
)


class NotFetched(Exception):
    """The project cannot be had on this machine; the message names the tool and its last words."""


def fetch(project: Project, folder: Path, cache: Path) -> Path:
    """Makes `folder` a git repository with one commit. Downloads are kept in `cache` for the next time."""
    if folder.exists():
        raise NotFetched(f"{folder} exists already. Name a folder that does not exist.")
    cache.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True)
    match project.source:
        case "sdist":
            _unpack(_sdist(project, cache), folder)
        case "npm":
            _unpack(_npm_tarball(project, cache), folder)
        case "debian-source":
            _unpack(_debian_source(project, cache), folder)
        case "debian-package":
            shutil.copytree(_debian_package(project.package, cache) / project.path, folder, dirs_exist_ok=True)
    _add_vendored(project, folder, cache)
    for name, text in project.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    _commit(folder, vendored=project.vendor.into if project.vendor else None)
    return folder


def source_entries(apt_settings: Path) -> dict[str, str]:
    """The package sources of this machine as files that ask for source packages."""
    entries: dict[str, str] = {}
    for deb822 in sorted((apt_settings / "sources.list.d").glob("*.sources")):
        entries[deb822.name] = re.sub(r"(?mi)^Types:.*$", "Types: deb-src", deb822.read_text(encoding="utf-8"))
    one_line = [apt_settings / "sources.list", *sorted((apt_settings / "sources.list.d").glob("*.list"))]
    for file in one_line:
        if file.is_file():
            lines = [line for line in file.read_text(encoding="utf-8").splitlines() if re.match(r"deb\s", line)]
            entries[file.name] = "".join(f"deb-src{line[3:]}\n" for line in lines)
    return entries


def _sdist(project: Project, cache: Path) -> Path:
    downloads = _downloads(project, cache)
    wanted = f"{project.package}=={project.version}"
    options = ("--no-deps", "--no-binary", project.package, "--disable-pip-version-check", "--quiet")
    return _archive(
        project, downloads, "*.tar.gz", [sys.executable, "-m", "pip", "download", *options, "-d", ".", wanted]
    )


def _npm_tarball(project: Project, cache: Path) -> Path:
    wanted = f"{project.package}@{project.version}"
    return _archive(project, _downloads(project, cache), "*.tgz", ["npm", "pack", "--silent", wanted])


def _debian_source(project: Project, cache: Path) -> Path:
    options = _source_lists(cache)
    pattern = f"{project.package}_{project.version}.orig.tar.*z*"
    command = ["apt-get", "source", "-qq", "--download-only", *options, project.package]
    return _archive(project, _downloads(project, cache), pattern, command)


def _debian_package(package: str, cache: Path) -> Path:
    """The folder with the unpacked content of a Debian package, without installing it."""
    unpacked = cache / "unpacked" / package
    if unpacked.is_dir():
        return unpacked
    downloads = cache / "debian"
    downloads.mkdir(exist_ok=True)
    _run(["apt-get", "download", "-qq", package], downloads)
    partial = unpacked.with_name(f"{package}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for archive in downloads.glob(f"{package}_*.deb"):
        _run(["dpkg-deb", "-x", str(archive), str(partial)], downloads)
    return partial.rename(unpacked)


def _source_lists(cache: Path) -> Sequence[str]:
    """Options for apt-get that leave the machine's own lists alone."""
    apt = cache / "apt"
    parts, lists = apt / "parts", apt / "lists"
    options = [
        *("-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}"),
        *("-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={apt / 'cache'}"),
    ]
    if not any(lists.glob("*Sources*")):
        for needed in (parts, lists / "partial", apt / "cache" / "archives" / "partial"):
            needed.mkdir(parents=True, exist_ok=True)
        for name, text in source_entries(APT_SETTINGS).items():
            (parts / name).write_text(text, encoding="utf-8")
        _run(["apt-get", "update", "-qq", *options], apt)
    return options


def _archive(project: Project, downloads: Path, pattern: str, command: Sequence[str]) -> Path:
    """The downloaded archive.

    The archive decides, not the exit code: apt-get also fails when only the packaging files beside it are missing.
    """
    if not (present := sorted(downloads.glob(pattern))):
        failure = _attempt(command, downloads)
        present = sorted(downloads.glob(pattern))
        if not present:
            raise NotFetched(
                f"{project.name} {project.version} cannot be fetched: `{' '.join(command[:4])} …` left no {pattern}. "
                f"{failure or f'The package has another version on this machine: {_names(downloads)}.'}"
            )
    return present[0]


def _names(folder: Path) -> str:
    return ", ".join(sorted(file.name for file in folder.iterdir())) or "no file at all"


def _downloads(project: Project, cache: Path) -> Path:
    downloads = cache / f"{project.name}-{project.version}"
    downloads.mkdir(exist_ok=True)
    return downloads


def _unpack(archive: Path, folder: Path) -> None:
    _run(["tar", "--no-same-owner", "--strip-components=1", "-xf", str(archive), "-C", str(folder)], folder)


def _add_vendored(project: Project, folder: Path, cache: Path) -> None:
    if project.vendor is None:
        return
    for package in project.vendor.packages:
        content = _debian_package(package, cache) / project.vendor.path
        shutil.copytree(content, folder / project.vendor.into, dirs_exist_ok=True)


def _commit(folder: Path, vendored: str | None) -> None:
    """One commit of everything that is not ignored. Ignored files go: a clone would not have them."""
    _run(["git", "init", "-q", "-b", "main"], folder)
    _run(["git", "add", "-A"], folder)
    if vendored:
        # The project or a vendored package may have a .gitignore that would drop some of the files.
        _run(["git", "add", "-A", "--force", vendored], folder)
    _run(["git", *COMMIT, "commit", "-q", "-m", "Import the project"], folder)
    _run(["git", "clean", "-ffdqX"], folder)


def _run(command: Sequence[str], folder: Path) -> None:
    if failure := _attempt(command, folder):
        raise NotFetched(f"`{' '.join(command[:3])} …` failed. {failure}")


def _attempt(command: Sequence[str], folder: Path) -> str:
    """Runs the command; the last line it said if it failed, else nothing."""
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=quiet, capture_output=True, text=True, check=False, timeout=WAIT_S
        )
    except FileNotFoundError:
        return f"{command[0]} is not installed."
    except subprocess.TimeoutExpired:
        return f"It did not end within {WAIT_S} seconds."
    if done.returncode == 0:
        return ""
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return f"It said: {said[-1].strip()}" if said else f"It ended with code {done.returncode} and said nothing."


def main() -> None:
    projects = corpus()
    arguments = argparse.ArgumentParser(description="Fetch a project of the corpus into a new git repository.")
    arguments.add_argument("name", choices=sorted(projects))
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--cache", type=Path, default=Path("build/projects"))
    given = arguments.parse_args()
    try:
        fetch(projects[given.name], given.folder, given.cache.resolve())
    except NotFetched as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
