"""Install the packages of a lock file into this Python's environment, and show progress.

usage: .venv/bin/python scripts/install.py LOCKFILE

Only missing packages are installed, with the hashes of the lock file. On a terminal one line is updated; elsewhere a
line is printed for every tenth package, so a log shows progress too.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from pip._vendor.packaging.requirements import Requirement

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
STARTED = re.compile(r"^Collecting (\S+?)(?:==\S+)?(?:\s|$)")


def main(lock: str) -> int:
    wanted = list(_requirements(lock))
    missing = [each for each in wanted if not _installed(each)]
    if not missing:
        print(f"{lock}: all {len(wanted)} packages are installed")
        return 0
    print(f"Installing {len(missing)} packages of {lock}; a first download takes a minute or two", flush=True)
    begun = time.monotonic()
    # --no-deps: the lock file is complete, so nothing is resolved again.
    command = [*PIP, "install", "--progress-bar", "off", "--no-deps", "--require-hashes", "-r", lock]
    output: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        _follow(process.stdout, len(missing), output)
    if process.returncode != 0:
        print("".join(output[-30:]), file=sys.stderr)
        print(f"pip could not install {lock}; its last lines are above.", file=sys.stderr)
        return 1
    print(f"Installed {len(missing)} packages in {time.monotonic() - begun:.0f} s", flush=True)
    return 0


def _requirements(lock: str) -> Iterator[Requirement]:
    """The requirements of the lock file whose markers hold for this Python."""
    with open(lock, encoding="utf-8") as lines:
        for line in lines:
            if "==" in line and not line.startswith((" ", "#")):
                requirement = Requirement(line.partition("\\")[0].strip())
                if requirement.marker is None or requirement.marker.evaluate():
                    yield requirement


def _installed(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except PackageNotFoundError:
        return False


def _follow(lines: Iterator[str], total: int, output: list[str]) -> None:
    terminal = sys.stdout.isatty()
    done = 0
    for line in lines:
        output.append(line)
        if started := STARTED.match(line):
            done += 1
            text = f"  {min(done, total)} of {total}: {started[1]}"
        elif line.startswith("Installing collected packages"):
            text = "  unpacking"
        else:
            continue
        if terminal:
            print(f"\r\033[K{text}", end="", flush=True)
        elif done % 10 == 0 or text == "  unpacking":
            print(text, flush=True)
    if terminal:
        print("\r\033[K", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
