"""The package manager of a Node project is the one that can read its lock file, and scripts can call it."""

import json
from pathlib import Path

import pytest

from interlock.detection.folder import ProjectFolder
from interlock.detection.machine import Machine
from interlock.detection.node_managers import Manager, manager_of

QUIET = "--no-audit --no-fund"
STORE = '--config.package-import-method=copy --store-dir "$TMPDIR/pnpm"'


def manager(root: Path, package: dict[str, object], files: dict[str, str], *programs: str) -> Manager:
    (root / "programs").mkdir()
    for name in ("node", "npm", *programs):
        (root / "programs" / name).touch(mode=0o755)
    for name, text in {**files, "package.json": json.dumps(package)}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    machine = Machine({"PATH": str(root / "programs"), "HOME": str(root)})
    return manager_of(ProjectFolder(root), package, machine)


@pytest.mark.parametrize(
    ("lock", "version"),
    [("lockfileVersion: 5.3", "6"), ("lockfileVersion: 5.4", "7"), ("lockfileVersion: '6.0'", "8"), ("", "9")],
)
def test_a_missing_pnpm_is_fetched_in_the_version_of_the_lock_file(tmp_path: Path, lock: str, version: str) -> None:
    assert manager(tmp_path, {}, {"pnpm-lock.yaml": f"{lock}\n"}) == Manager(
        name="pnpm",
        lock="pnpm-lock.yaml",
        prepare=(f"npx --yes pnpm@{version} install --frozen-lockfile {STORE}",),
    )


def test_a_manager_that_scripts_call_is_kept_with_the_packages(tmp_path: Path) -> None:
    package: dict[str, object] = {"scripts": {"test": "yarn lint && mocha"}}
    assert manager(tmp_path, package, {"yarn.lock": "# yarn lockfile v1\n"}) == Manager(
        name="yarn",
        lock="yarn.lock",
        prepare=(
            f"npm install --no-save --no-package-lock {QUIET} --prefix .package-manager yarn@1",
            ".package-manager/node_modules/.bin/yarn install --frozen-lockfile --non-interactive",
        ),
        call="yarn",
        path=(".package-manager/node_modules/.bin",),
    )


def test_a_modern_yarn_is_another_package_and_makes_a_plain_folder(tmp_path: Path) -> None:
    found = manager(tmp_path, {}, {"yarn.lock": "__metadata:\n  version: 8\n"}, "yarn")
    assert found.prepare == (
        f"npm install --no-save --no-package-lock {QUIET} --prefix .package-manager @yarnpkg/cli-dist@4",
        "YARN_NODE_LINKER=node-modules .package-manager/node_modules/.bin/yarn install --immutable",
    )
    assert found.call == "YARN_NODE_LINKER=node-modules yarn"


def test_a_yarn_that_is_part_of_the_project_is_used(tmp_path: Path) -> None:
    files = {
        "yarn.lock": "__metadata:\n  version: 8\n",
        ".yarnrc.yml": "nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.1.0.cjs\n",
        ".yarn/releases/yarn-4.1.0.cjs": "",
    }
    found = manager(tmp_path, {}, files)
    assert found.prepare == ("node .yarn/releases/yarn-4.1.0.cjs install --immutable",)
    assert found.call == "node .yarn/releases/yarn-4.1.0.cjs"


def test_a_script_of_corepack_is_no_manager_because_it_downloads_one(tmp_path: Path) -> None:
    (tmp_path / "corepack").mkdir()
    (tmp_path / "corepack" / "pnpm.js").touch(mode=0o755)
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "pnpm").symlink_to(tmp_path / "corepack" / "pnpm.js")
    (tmp_path / "pnpm-lock.yaml").write_text("lockfileVersion: '9.0'\n")
    machine = Machine({"PATH": str(tmp_path / "programs"), "HOME": str(tmp_path)})
    assert manager_of(ProjectFolder(tmp_path), {}, machine).prepare[0].startswith("npx --yes pnpm@9 install")


def test_a_script_for_publishing_does_not_run_at_installation(tmp_path: Path) -> None:
    package: dict[str, object] = {"scripts": {"prepublish": "git add -A"}}
    assert manager(tmp_path, package, {"package-lock.json": "{}"}).prepare == (
        f"npm ci {QUIET} --ignore-scripts",
        "npm rebuild",
    )
