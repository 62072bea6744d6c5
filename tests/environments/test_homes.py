"""What package managers keep in the home of the prepare phase is found offline by variables."""

import asyncio
import os
from pathlib import Path

from interlock.environments.manifest import Manifest
from interlock.environments.preparing import Checkout, PackageInstaller
from interlock.environments.store import EnvironmentStore
from interlock.sandbox.levels.unconfined import UnconfinedSandbox


def test_folders_of_packages_get_their_variables_each_once(tmp_path: Path) -> None:
    made = installed(
        tmp_path,
        'mkdir -p "$HOME/.cargo/registry" "$HOME/.cargo/git" "$HOME/go/pkg/mod" "$HOME/.bundle/packages"',
        'mkdir -p "$MAVEN_REPOSITORY" "$MAVEN_USER_HOME/wrapper" "$GRADLE_USER_HOME/caches"',
        'mkdir -p "$GRADLE_USER_HOME/wrapper/dists"',
    )
    assert made.home == (
        ("CARGO_HOME", "{home}/.cargo"),
        ("CARGO_NET_OFFLINE", "true"),
        ("GOMODCACHE", "{home}/go/pkg/mod"),
        ("GOPROXY", "off"),
        ("MAVEN_REPOSITORY", "{home}/.m2/repository"),
        ("MAVEN_USER_HOME", "{home}/.m2"),
        ("GRADLE_RO_DEP_CACHE", "{home}/.gradle/caches"),
        ("GRADLE_DISTRIBUTIONS", "{home}/.gradle/wrapper/dists"),
        ("BUNDLE_PATH", "{home}/.bundle/packages"),
    )


def test_a_home_without_packages_needs_no_variable(tmp_path: Path) -> None:
    assert installed(tmp_path, 'touch "$HOME/.profile"').home == ()


def test_rustup_finds_its_toolchains_in_the_users_home(tmp_path: Path) -> None:
    made = installed(tmp_path, 'printf %s "$RUSTUP_HOME" > where')
    where = tmp_path / "store" / made.key / "files" / "where"
    assert where.read_text() == f"{tmp_path}/user/.rustup"


def installed(place: Path, *commands: str) -> Manifest:
    store = EnvironmentStore(place / "store")
    (place / "checkout").mkdir()
    env = {"PATH": os.defpath, "HOME": f"{place}/user"}
    installer = PackageInstaller(store, UnconfinedSandbox(), env, commands)
    checkout = Checkout(str(place / "checkout"), str(place / "checkout"), (), frozenset())
    made = asyncio.run(installer.install("key", checkout, "project", store.new_folder()))
    assert isinstance(made, Manifest), made
    return made
