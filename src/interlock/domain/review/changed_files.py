"""The files of a diff under review, with their risks.

Risks are found by names and by the diff itself. They decide what a person sees first, never what is allowed.
"""

import re

from interlock.domain.checks.judging_files import is_runner_file, is_test
from interlock.domain.checks.name_patterns import NamePatterns
from interlock.domain.review.diff_parts import Section, sections_of
from interlock.domain.values.approvals import ReviewFile

_DEPENDENCIES = NamePatterns(
    [
        *("package.json", "requirements*.txt", "pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "Cargo.toml"),
        *("go.mod", "pom.xml", "build.gradle*", "Gemfile", "*.gemspec", "composer.json", "*.csproj", "environment.yml"),
        *("Dockerfile*", ".gitmodules", ".npmrc", "*.lock", "package-lock.json", "pnpm-lock.yaml", "go.sum"),
        *("npm-shrinkwrap.json", "conanfile.*", "vcpkg.json", "WORKSPACE", "MODULE.bazel"),
    ]
)
_GENERATED = NamePatterns(
    [
        *("*.lock", "package-lock.json", "pnpm-lock.yaml", "go.sum", "npm-shrinkwrap.json", "*.min.js", "*.min.css"),
        *("*.map", "*_pb2.py", "*_pb2_grpc.py", "*.pb.go", "*.snap", "*.svg"),
    ]
)
_GENERATED_FOLDERS = frozenset(["dist", "node_modules", "vendor", "third_party", "__snapshots__"])
_SECRET = re.compile(
    r"(?i)(?:api[_-]?key|secret|passw(?:or)?d|token|private[_-]?key)\w*['\"]?\s*[:=]\s*['\"][^'\"\s]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bghp_\w{20,}"
)


def files_of(diff: str) -> tuple[ReviewFile, ...]:
    """The files of a diff in git's format: those with risks first, folded ones last, else in their order."""
    files = [_file(section) for section in sections_of(diff)]
    return tuple(sorted(files, key=lambda file: (file.folded, not file.risks)))


def _file(section: Section) -> ReviewFile:
    head, body = section.head[1:], [line for part in section.hunks for line in part[1:]]
    path = section.path
    added = [line for line in body if line.startswith("+")]
    removed = sum(line.startswith("-") for line in body)
    new = any(line.startswith("new file mode") for line in head)
    binary = any(line.startswith(("Binary files ", "GIT binary patch")) for line in head)
    name = path.rpartition("/")[2]
    generated = _GENERATED.match(name) or not _GENERATED_FOLDERS.isdisjoint(path.split("/")[:-1])
    risks = (
        ("may contain a secret", any(_SECRET.search(line) for line in added)),
        ("existing test", is_test(path) and not new),
        ("dependencies", _DEPENDENCIES.match(name)),
        ("build or CI", is_runner_file(path)),
        ("executable", any(line.startswith(("new file mode 100755", "new mode 100755")) for line in head)),
        ("symbolic link", any(line.endswith("mode 120000") for line in head)),
        ("submodule", any(line.endswith("mode 160000") for line in head)),
        ("deleted", any(line.startswith("deleted file mode") for line in head)),
        ("binary", binary),
    )
    named = tuple(risk for risk, is_so in risks if is_so)
    return ReviewFile(path, len(added), removed, named, generated or binary, section.first, section.parts)
