"""A version that a file names: the program that has it is used, or it is reported as missing."""

from pathlib import Path

import pytest

from interlock.detection.found import Missing
from tests.detection.machines import Sample

NODE_HEADER = "#define NODE_MAJOR_VERSION {}\n#define NODE_MINOR_VERSION {}\n#define NODE_PATCH_VERSION {}\n"
PACKAGE = {"package.json": '{"scripts": {"test": "node test.js"}}', "test.js": ""}


@pytest.mark.parametrize(
    ("file", "text", "version"),
    [
        (".nvmrc", "v20.11.1\n", "20.11.1"),
        (".nvmrc", "20\n", "20"),
        (".nvmrc", "lts/Iron\n", "20"),
        (".node-version", "20.11\n", "20.11"),
        (".tool-versions", "python 3.12.1\nnodejs 20.11.1\n", "20.11.1"),
        ("mise.toml", '[tools]\nnode = "20"\n', "20"),
        (".mise.toml", '[tools]\nnode = ["20.1", "18"]\n', "20.1"),
        ("mise.toml", '[tools]\nnode = { version = "20.2" }\n', "20.2"),
        (
            ".devcontainer/devcontainer.json",
            '{ // tools\n"features": {"ghcr.io/devcontainers/features/node:1": {"version": "20"}}}',
            "20",
        ),
        (".devcontainer.json", '{"image": "mcr.microsoft.com/devcontainers/javascript-node:1-20-bookworm"}', "20"),
        (".devcontainer.json", '{"image": "mcr.microsoft.com/devcontainers/typescript-node:20"}', "20"),
    ],
)
def test_a_version_that_the_machine_does_not_have_is_missing(
    tmp_path: Path, file: str, text: str, version: str
) -> None:
    sample = _with_node(tmp_path, "18.19.0")
    sample.write({**PACKAGE, file: text})
    what = f"Node {version}, which {file} names (PATH has 18.19.0)"
    assert [one.what for one in sample.part().missing] == [what]


@pytest.mark.parametrize(
    "wanted", ["18", "v18.19", "18.19.0", "lts/hydrogen", "node", "stable", "x" * 5000, "9" * 5000]
)
def test_the_version_in_path_is_used_if_it_fits_or_if_none_is_named(tmp_path: Path, wanted: str) -> None:
    sample = _with_node(tmp_path, "18.19.0")
    sample.write({**PACKAGE, ".nvmrc": wanted})
    part = sample.part()
    assert (part.missing, part.programs) == ((), ())


@pytest.mark.parametrize(
    "place",
    [
        ".nvm/versions/node/v20.11.1/bin/node",
        ".local/share/fnm/node-versions/v20.11.1/installation/bin/node",
        ".volta/tools/image/node/20.11.1/bin/node",
        ".asdf/installs/nodejs/20.11.1/bin/node",
        ".local/share/mise/installs/node/20.11.1/bin/node",
    ],
)
def test_the_program_of_a_version_manager_is_found(tmp_path: Path, place: str) -> None:
    sample = _with_node(tmp_path, "18.19.0")
    program = sample.program(sample.home / place)
    sample.write({**PACKAGE, ".nvmrc": "20\n"})
    part = sample.part()
    assert (part.programs, part.missing) == ((program,), ())
    assert "Node 20, by .nvmrc" in part.evidence


def test_the_variable_of_nvm_names_its_folder(tmp_path: Path) -> None:
    sample = _with_node(tmp_path, "18.19.0")
    sample.env["NVM_DIR"] = str(tmp_path / "nvm")
    program = sample.program(tmp_path / "nvm/versions/node/v20.11.1/bin/node")
    sample.write({**PACKAGE, ".nvmrc": "20\n"})
    assert sample.part().programs == (program,)


def test_a_program_whose_version_no_file_tells_is_used_and_named(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.install("node", "npm")
    sample.write({**PACKAGE, ".nvmrc": "20\n"})
    part = sample.part()
    assert part.missing == ()
    assert part.evidence[-1] == (f"Node 20, by .nvmrc; the version of {sample.bin / 'node'} could not be determined")


@pytest.mark.parametrize(
    ("engines", "missing"),
    [(">=20", True), ("^20.1.0 || >=22", True), (">=18", False), ("<20", False), ("^16 || ^18", False), ("*", False)],
)
def test_the_range_of_package_json_is_compared_by_its_lowest_version(
    tmp_path: Path, engines: str, missing: bool
) -> None:
    sample = _with_node(tmp_path, "18.19.0")
    sample.write({"package.json": f'{{"engines": {{"node": "{engines}"}}}}', "a.js": ""})
    assert bool(sample.part().missing) is missing


def test_ruby_and_php_are_compared_too(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    for program, version in (("ruby", "3.1"), ("php", "8.2")):
        sample.program(sample.bin / f"{program}{version}")
        (sample.bin / program).symlink_to(f"{program}{version}")
    sample.install("bundle", "composer")
    sample.write({"Gemfile": "", "composer.json": "{}", ".ruby-version": "ruby-3.2.2\n", ".php-version": "8.2\n"})
    remedy = "install it, for example by 'rbenv install 3.2.2' or 'mise install ruby@3.2.2'"
    assert sample.detect().missing == (Missing("Ruby 3.2.2, which .ruby-version names (PATH has 3.1)", remedy),)


def _with_node(place: Path, version: str) -> Sample:
    """As Node's own archive is unpacked: its header is beside `bin`."""
    sample = Sample(place)
    sample.install("node", "npm")
    header = place / "include" / "node" / "node_version.h"
    header.parent.mkdir(parents=True)
    header.write_text(NODE_HEADER.format(*version.split(".")))
    return sample
