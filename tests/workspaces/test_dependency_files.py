"""Files that decide what is installed are known by exact names: source files are not among them."""

import pytest

from interlock.workspaces.checkouts.dependency_files import is_dependency_list, is_setup_input, words_of


@pytest.mark.parametrize(
    "path",
    [
        *("uv.lock", "web/package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lockb", "conda-lock.yml"),
        *("requirements.txt", "dev-requirements.in", "requirements/tests.txt", "constraints-3.11.txt", "test-deps.txt"),
        *("pyproject.toml", "pylock.toml", "pylock.dev.toml", "hatch.toml", "setup.cfg", ".python-version"),
        *("package.json", "a/b/package.json", ".yarnrc.yml", "go.sum", "Cargo.toml", "build.gradle.kts", "pom.xml"),
    ],
)
def test_a_list_of_packages_is_known_by_its_name(path: str) -> None:
    assert is_dependency_list(path.encode())


@pytest.mark.parametrize(
    "path",
    [
        *("src/clock.py", "block.js", "tests/test_lock.py", "interlock.toml", "docs/locking.md", "lock/state.json"),
        *("tests/test_requirements.py", "src/constraints.ts", "requirements/README.md", "Makefile", "CMakeLists.txt"),
    ],
)
def test_a_file_of_the_program_is_no_list_of_packages(path: str) -> None:
    assert not is_dependency_list(path.encode())


def test_a_file_that_the_commands_name_counts() -> None:
    assert is_dependency_list(b"scripts/get.sh", words_of(("sh ./scripts/get.sh --all",)))
    assert not is_dependency_list(b"other/get.sh", words_of(("sh ./scripts/get.sh --all",)))


def test_rules_of_a_build_count_only_for_commands_that_read_them() -> None:
    assert is_dependency_list(b"Makefile", words_of(("make deps",)))
    assert not is_dependency_list(b"Makefile", words_of(("npm ci",)))
    assert is_setup_input(b"Makefile", words_of(("npm run build",)))
