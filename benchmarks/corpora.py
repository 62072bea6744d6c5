"""Large repositories in every language, fetched by package name from PyPI, npm and Debian; kept in results/."""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.samples import RESULTS, Unavailable, folder, say

PLACE = RESULTS / "corpora"


class Corpus(NamedTuple):
    source: str  # pypi, npm or debian
    package: str
    languages: tuple[str, ...]
    every: str = ""  # all files of the package are in the language


CORPORA = {
    "django": Corpus("pypi", "Django==5.2", ("python",)),
    "sympy": Corpus("pypi", "sympy==1.13.3", ("python",)),
    "three": Corpus("npm", "three@0.160.0", ("javascript",)),
    "rxjs": Corpus("npm", "rxjs@7.8.1", ("typescript",)),
    "blueprint": Corpus("npm", "@blueprintjs/core@5.10.0", ("tsx",)),
    "x-tools": Corpus("debian", "golang-golang-x-tools-dev", ("go",)),
    "rust-library": Corpus("debian", "rust-src", ("rust",)),
    "grpc": Corpus("pypi", "grpcio==1.66.2", ("c", "cpp")),
    "react-native": Corpus("npm", "react-native@0.72.17", ("java",)),
    "pythonnet": Corpus("pypi", "pythonnet==3.0.3", ("csharp",)),
    "activerecord": Corpus("debian", "ruby-activerecord", ("ruby",)),
    "libruby": Corpus("debian", "libruby3.1", ("ruby",)),
    "wordpress": Corpus("debian", "wordpress", ("php",)),
    "bash-completion": Corpus("debian", "bash-completion", ("bash",), "usr/share/bash-completion/completions/*"),
}


def fetched(name: str) -> Path:
    """The folder of a corpus; downloads it if it is missing."""
    place = PLACE / name
    if not place.is_dir():
        corpus = CORPORA[name]
        say(f"  fetching {corpus.package} from {corpus.source}")
        with folder() as home:
            out = Path(home) / "out"
            out.mkdir()
            _HOW[corpus.source](corpus.package, Path(home), out)
            PLACE.mkdir(parents=True, exist_ok=True)
            shutil.move(out, place)
    return place


def sources(name: str, language: str) -> list[Path]:
    """The sorted files of the corpus in its language."""
    from interlock.codeviews.syntax.detect import language_of

    files: list[Path] = []
    every = CORPORA[name].every
    for path in sorted(fetched(name).glob(every or "**/*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > 2_000_000:
            continue
        with open(path, "rb") as file:
            head = file.read(8_192)
        if b"\0" not in head and (every or language_of(path.name, head) == language):
            files.append(path)
    return files


def _pypi(package: str, home: Path, out: Path) -> None:
    words = ("download", "-qq", "--no-deps", "--no-binary", ":all:", "-d", str(home), package)
    output = _run((sys.executable, "-m", "pip", *words))
    archive = next(iter(home.glob("*.tar.gz")), None)
    if archive is None:
        raise Unavailable(output or "pip fetched nothing")
    _unpack(archive, out)


def _npm(package: str, home: Path, out: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    output = _run((npm, "pack", "--silent", "--pack-destination", str(home), package))
    archive = next(iter(home.glob("*.tgz")), None)
    if archive is None:
        raise Unavailable(output or "npm fetched nothing")
    _unpack(archive, out)


def _debian(package: str, home: Path, out: Path) -> None:
    """The binary package: for these languages it contains the sources."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Unavailable("this is not Debian")
    with tempfile.TemporaryDirectory() as quiet:  # apt's own user cannot write to a private folder
        output = _run(("apt-get", "download", "-qq", package), cwd=quiet)
        archive = next(iter(Path(quiet).glob("*.deb")), None)
        if archive is None:
            raise Unavailable(output or "apt fetched nothing")
        _run(("dpkg-deb", "-x", str(archive), str(out)))


_HOW: dict[str, Callable[[str, Path, Path], None]] = {"pypi": _pypi, "npm": _npm, "debian": _debian}


def _unpack(archive: Path, out: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(out, filter="data")


def _run(words: tuple[str, ...], cwd: str | None = None) -> str:
    """The last line of the error output."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines()
    return lines[-1] if done.returncode and lines else ""
