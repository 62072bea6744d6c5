"""Node projects: package managers, lock files, workspaces and test scripts."""

import json
from pathlib import Path

import pytest

from interlock.cli.inspect.project_words import beside_lines
from interlock.detection.found import Missing, proposal_of
from tests.detection.machines import PROGRAMS, Sample, found

SCRIPT = {"scripts": {"test": "node test.js"}, "devDependencies": {"x": "1"}}


@pytest.mark.parametrize(
    ("lock", "command"),
    [
        ("package-lock.json", "npm ci --no-audit --no-fund"),
        (
            "pnpm-lock.yaml",
            'pnpm install --frozen-lockfile --config.package-import-method=copy --store-dir "$TMPDIR/pnpm"',
        ),
        ("yarn.lock", "yarn install --frozen-lockfile --non-interactive"),
    ],
)
def test_the_lock_file_decides_the_package_manager(tmp_path: Path, lock: str, command: str) -> None:
    part = found(tmp_path, {"package.json": json.dumps(SCRIPT), lock: ""})
    assert (part.prepare, part.path) == ((command,), ("node_modules/.bin",))
    assert lock in part.evidence[1]


def test_a_manager_of_package_json_that_is_not_installed_is_fetched_in_its_version(tmp_path: Path) -> None:
    package = {**SCRIPT, "packageManager": "pnpm@8.15.1+sha256.abc"}
    part = found(tmp_path, {"package.json": json.dumps(package)}, "node", "npm")
    assert part.prepare[0].startswith("npx --yes pnpm@8.15.1 install --no-lockfile ")
    assert "packageManager, for corepack" in part.evidence


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ({"scripts": {"test": "jest"}}, "npm test"),
        ({"scripts": {"test": 'echo "Error: no test specified" && exit 1', "unit": "jest"}}, "npm run unit"),
        ({"devDependencies": {"vitest": "1"}}, "vitest run"),
        ({}, ""),
    ],
)
def test_the_test_script_is_run_or_the_runner_that_is_listed(
    tmp_path: Path, package: dict[str, object], command: str
) -> None:
    assert found(tmp_path, {"package.json": json.dumps(package)}).tests == command


def test_workspaces_are_recognised(tmp_path: Path) -> None:
    part = found(tmp_path, {"package.json": json.dumps({**SCRIPT, "workspaces": ["packages/*"]})})
    assert "a workspace of several packages" in part.evidence


def test_a_machine_without_node_is_told_how_to_get_it(tmp_path: Path) -> None:
    part = found(tmp_path, {"package.json": "{}"}, "sh")
    assert part.missing == (Missing("Node", "install Node.js; on Debian: apt-get install nodejs npm"),)


def test_packages_beside_the_main_part_are_named_and_not_proposed(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.write({"package.json": json.dumps(SCRIPT), "a.js": "", "requirements.txt": "sphinx\n", "conf.py": ""})
    found = sample.detect()
    assert [part.name for part in found.parts] == ["Node", "Python"]
    assert not any("pip" in command for command in proposal_of(found).prepare)
    assert [part.name for part in found.beside] == ["Python"]
    assert next(beside_lines(found)).startswith("Not installed, as the tests of Node seldom need it: Python (")


def test_the_site_of_a_project_does_not_count_without_its_tools(tmp_path: Path) -> None:
    """A Gemfile for the documentation must not stop the tests of a Node project."""
    sample = Sample(tmp_path)
    sample.install(*(name for name in PROGRAMS if name not in ("ruby", "bundle")))
    sample.write({"package.json": json.dumps(SCRIPT), "a.js": "", "Gemfile": "gem 'jekyll'\n"})
    proposed = proposal_of(sample.detect())
    assert (proposed.prepare, proposed.tests) == (
        ("npm install --no-audit --no-fund --no-package-lock",),
        "npm test",
    )
