"""A project's files may be hostile: detection never fails, reads no more than it must, and quotes what it proposes."""

import json
import os
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.detection.detect import detect
from interlock.detection.folder import ProjectFolder
from interlock.detection.found import Detected, proposal_of
from interlock.detection.machine import Machine
from tests.detection.machines import PROGRAMS, Sample

# Files that some detector reads, by their paths.
READ = (
    *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "requirements.txt", "Pipfile", "pytest.ini"),
    *("tests/test_a.py", "package.json", ".nvmrc", ".tool-versions", "mise.toml", ".devcontainer.json", "Cargo.toml"),
    *(".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml", "go.mod", "go.work", "a_test.go", "pom.xml"),
    *("build.gradle", "settings.gradle", "gradlew", "gradle/wrapper/gradle-wrapper.properties", "build.xml", "mvnw"),
    *(".mvn/wrapper/maven-wrapper.properties", "Gemfile", "Rakefile", ".ruby-version", "composer.json", "phpunit.xml"),
    *("CMakeLists.txt", "meson.build", "configure.ac", "Makefile", "justfile", "Taskfile.yml", "a.c", "a.rb", "a.php"),
)
BAD = "a'; touch OWNED; echo \"$(touch OWNED)`touch OWNED`\\"
PIECES = st.sampled_from(
    [
        *("[project]\n", "[tool.poetry]\n", "[workspace]\n", "[toolchain]\n", "name = ", '"', "'", "{", "}", "[", "]"),
        *("test:", "use (", "go 1.", "require ", "<target name=", "option(", "distributionUrl=", "\n", "=", "\x1b[31m"),
        *("$(touch OWNED)", "; rm -rf /", "\0", "\ud800", "9" * 5000, "\u202e", "import pytest\n", "def test(x):\n"),
        *('{"scripts": {"test": "x"}}', '{"require": {"php": "^', "node 2", "Rake::TestTask.new(:", "enable_testing()"),
    ]
)
CONTENTS = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode(errors="replace")),
    st.lists(PIECES, max_size=12).map(lambda pieces: "".join(pieces).encode(errors="surrogatepass")),
)


@given(st.dictionaries(st.sampled_from(READ), CONTENTS, min_size=1, max_size=8))
def test_no_content_of_a_file_makes_detection_fail_or_propose_control_characters(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    sample = Sample(tmp_path_factory.mktemp("fuzz"))
    sample.install(*PROGRAMS)
    sample.write(files)
    assert [text for text in _texts(sample.detect()) if not text.isprintable()] == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Cargo.toml", "a = " + "[" * 100_000),
        ("Cargo.toml", "a = " + "9" * 10_000),
        ("package.json", "[" * 200_000),
        ("package.json", '{"a": ' * 100_000),
        ("composer.json", "9" * 10_000),
        ("setup.py", "setup(extras_require=" + "(" * 10_000),
        ("noxfile.py", "-" * 100_000 + "1"),
        ("go.work", "use " * 100_000),
        ("CMakeLists.txt", "option(" * 100_000),
        ("build.xml", "<target " * 100_000),
        ("Rakefile", "task " * 100_000),
        ("Makefile", "test" * 500_000),
        (".devcontainer.json", '/features/node:1" : {' * 20_000),
    ],
)
def test_deep_and_repetitive_content_is_survived(tmp_path: Path, name: str, content: str) -> None:
    sample = Sample(tmp_path)
    sample.write({name: content, "a.py": "", "tests/test_a.py": "", "a.c": "", "a.rb": ""})
    assert all(text.isprintable() for text in _texts(sample.detect()))


def test_a_file_that_is_too_large_counts_as_empty(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.write({"Cargo.toml": b"[workspace]\n" + b"#" * 4_000_001})
    assert sample.part().evidence == ("Cargo.toml", "no Cargo.lock")


def test_links_out_of_the_project_are_not_read(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    (tmp_path / "secret").write_text('[toolchain]\nchannel = "1.1"\n')
    sample.write({"Cargo.toml": ""})
    (sample.project / "rust-toolchain.toml").symlink_to(tmp_path / "secret")
    (sample.project / "src").symlink_to(tmp_path)
    assert sample.part().evidence == ("Cargo.toml", "no Cargo.lock")


@pytest.mark.parametrize("name", ["Cargo.toml", "go.mod", "package.json", "Makefile", "pom.xml"])
def test_a_fifo_or_a_folder_in_the_place_of_a_file_does_not_block(tmp_path: Path, name: str) -> None:
    sample = Sample(tmp_path)
    os.mkfifo(sample.project / name)
    (sample.project / "CMakeLists.txt").mkdir()
    assert sample.detect() == Detected()


def test_names_in_the_files_are_quoted_in_every_command(tmp_path: Path) -> None:
    """The shell splits each proposal into words; the hostile text is one of them, or is not there."""
    sample = Sample(tmp_path)
    sample.install(*PROGRAMS)
    named = json.dumps(BAD)
    sample.write(
        {
            "pyproject.toml": f"[project]\nname = {named}\n[build-system]\nbuild-backend = {named}\n"
            f"[project.optional-dependencies]\ntest = [{named}]\n[dependency-groups]\ntest = [{named}]\n",
            "tests/test_a.py": "import pytest\n",
            "package.json": json.dumps(
                {
                    "name": BAD,
                    "packageManager": f"pnpm@{BAD}",
                    "scripts": {BAD: BAD, "test": BAD},
                    "dependencies": {BAD: BAD},
                }
            ),
            f"{BAD.replace('/', '')}/go.mod": "module x\n\nrequire y v1\n",
            f"{BAD.replace('/', '')}/a_test.go": "",
            "Rakefile": f"Rake::TestTask.new(:{BAD})\n",
            "a.rb": "",
            "composer.json": json.dumps({"scripts": {BAD: BAD}, "require-dev": {"phpunit/phpunit": BAD}}),
            "CMakeLists.txt": f'enable_testing()\noption({BAD}_BUILD_TESTS "{BAD}" OFF)\n',
            "a.c": "",
            "rust-toolchain": BAD,
            "Cargo.toml": f"[package]\nname = {named}\n[dependencies]\nx = {named}\n",
            "gradle/wrapper/gradle-wrapper.properties": f"distributionUrl={BAD}\n",
            "gradlew": "",
            "build.gradle": "",
        }
    )
    detected = sample.detect()
    assert len(detected.parts) >= 7
    loose = [
        word
        for part in detected.parts
        for command in (*part.prepare, *part.setup, part.tests)
        for word in shlex.split(command)
        if "OWNED" in word and BAD not in word and BAD.replace("/", "") not in word
    ]
    assert loose == []


def test_a_command_with_control_characters_is_not_proposed_and_the_reason_is_told(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.install(*PROGRAMS)
    sample.write({"a\x1b[31m\nb/go.mod": "module x\n", "a\x1b[31m\nb/a_test.go": ""})
    part = sample.part()
    why = "a name in the project's files has control characters: no command is proposed"
    assert (part.name, part.tests, part.prepare, part.evidence[-1]) == ("Go", "", (), why)


def test_a_folder_that_does_not_exist_has_no_parts(tmp_path: Path) -> None:
    assert detect(ProjectFolder(tmp_path / "gone"), Machine({})) == Detected()


def _texts(found: Detected) -> list[str]:
    proposed = proposal_of(found)
    texts = [*proposed.prepare, proposed.setup, proposed.tests, *proposed.path, *found.helpers]
    for part in found.parts:
        texts += [part.name, *part.evidence, *part.prepare, *part.setup, part.tests, part.tests_from, *part.path]
        texts += [text for one in part.missing for text in (one.what, one.remedy)]
    return texts
