"""`interlock view` on the command line."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from interlock.codeviews.views.view import KINDS
from tests.cli.project import CommandResult, Project
from tests.cli.test_start_up import imported_by

SOURCE = "def f():\n    return 1\n"
SKELETON = "def f():\n    ...\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    new_project = Project(tmp_path, git=False)
    new_project.env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    new_project.write("a.py", SOURCE)
    return new_project


def test_for_one_file_standard_output_is_the_view_alone(project: Project) -> None:
    result = project.run("view", "skeleton", "a.py")
    assert (result.code, result.out) == (0, SKELETON)
    assert result.err.startswith("1 file: ")
    assert result.err.rstrip().endswith((" tokens (counted)", " tokens (estimated)"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_twice_the_same_and_without_the_cache(project: Project, kind: str) -> None:
    first = project.run("view", kind, "a.py")
    again = project.run("view", kind, "a.py")
    bare = project.run("view", kind, "a.py", "--no-cache")
    assert first.code == 0
    assert first.out == again.out == bare.out != ""


def test_bytes_stay_as_they_are(project: Project) -> None:
    path = project.root / "b.py"
    path.write_bytes(b"\xef\xbb\xbfx = '\xff'\r\ndef f(): return 1")
    result = project.run("view", "skeleton", "b.py", "--json")
    assert result.json["files"][0]["view"] == "\ufeffx = '\ufffd'\r\ndef f(): ..."


def test_several_files_have_a_line_each(project: Project) -> None:
    project.write("d/b.py", SOURCE)
    project.write("d/c.css", "a {}\n")
    result = project.run("view", "skeleton", ".")
    assert result.out == f"==> ./a.py <==\n{SKELETON}\n==> ./d/b.py <==\n{SKELETON}\n==> ./d/c.css <==\na {{}}\n"
    assert result.err.startswith("3 files: ")


def test_an_empty_file_has_its_line_alone(project: Project) -> None:
    project.write("b.py", "")
    project.write("c.py", "x = 1")
    assert (
        project.run("view", "skeleton", ".").out
        == f"==> ./a.py <==\n{SKELETON}\n==> ./b.py <==\n\n==> ./c.py <==\nx = 1\n"
    )


def test_many_skipped_files_of_a_folder_are_counted_and_named_ones_are_listed(project: Project) -> None:
    for number in range(8):
        (project.root / f"{number}.bin").write_bytes(b"\0")
    result = project.run("view", "skeleton", ".")
    lines = [line for line in result.err.splitlines() if line.startswith("skipped ")]
    assert lines == [
        *(f"skipped ./{number}.bin: a binary file" for number in range(5)),
        "skipped 3 more for the same reason: a binary file",
    ]
    assert len(project.run("view", "skeleton", ".", "--json").json["skipped"]) == 8
    named = project.run("view", "skeleton", *(f"{number}.bin" for number in range(8)))
    assert named.err.count("a binary file\n") == 8


def test_json(project: Project) -> None:
    project.write(".env", "KEY=1\n")
    result = project.run("view", "summary", ".", "--json")
    assert result.code == 0
    data = result.json
    (file,) = data.pop("files")
    totals = data.pop("totals")
    assert data == {"kind": "summary", "skipped": [{"path": "./.env", "reason": "it may hold secrets"}]}
    assert (file["path"], file["language"]) == ("./a.py", "python")
    assert file["view"] == "**Python** — 2 lines\nfunctions: f\n"
    assert (totals["files"], totals["skipped"]) == (1, 1)
    assert totals["tokens_before"] == file["tokens_before"] > 0


def test_the_names_of_secrets_are_those_of_the_tools_and_of_the_users_settings(project: Project) -> None:
    names = ("prod.env", "main.tfvars", "kubeconfig", ".bash_history", "notes.private", "test.pem", ".aws/config")
    for name in names:
        project.write(name, "PASSWORD=hunter2\n")
    config = Path(project.env["XDG_CONFIG_HOME"]) / "interlock" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[secrets]\nfiles = ["*.private"]\nexceptions = ["test.pem"]\n', encoding="utf-8")
    data = project.run("view", "curated", ".", "--json").json
    assert {file["path"] for file in data["files"]} == {"./a.py", "./test.pem"}
    assert {(file["path"], file["reason"]) for file in data["skipped"]} == {
        (f"./{name.partition('/')[0]}", "it may hold secrets") for name in names if name != "test.pem"
    }
    for path in (".aws", ".aws/config"):
        assert project.run("view", "curated", path, "--json").json["skipped"] == [
            {"path": path, "reason": "it may hold secrets"}
        ]


def test_unknown_languages(project: Project) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    project.write("x.css", text)
    project.write("noname", text)
    assert project.run("view", "skeleton", "x.css").out == text
    preview = "".join(f"line {number}\n" for number in range(8))
    assert project.run("view", "summary", "x.css").out == f"**CSS** — 20 lines\n{preview}"
    assert project.run("view", "summary", "noname").out == f"**Text** — 20 lines\n{preview}"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nope.py", "No such file or directory"),
        (".env", "it may hold secrets"),
        ("pipe", "a FIFO, not a file"),
        ("*.none", "nothing matches it"),
    ],
)
def test_a_named_path_that_cannot_be_shown_is_an_error(project: Project, path: str, reason: str) -> None:
    project.write(".env", "KEY=1\n")
    os.mkfifo(project.root / "pipe")
    result = project.run("view", "skeleton", "a.py", path)
    assert result.code == 1
    assert f"skipped {path}: {reason}\n" in result.err
    assert SKELETON in result.out


def test_another_folder(project: Project) -> None:
    result = project.run("view", "skeleton", "a.py", "-C", str(project.root), cwd=project.home)
    assert result.out == SKELETON


def test_names_with_escapes_and_names_that_are_no_text(project: Project) -> None:
    (project.root / "d").mkdir()
    for name in (b"\x1b[31mred.py", b"\xff.py"):
        with open(os.path.join(os.fsencode(project.root), b"d", name), "w") as file:
            file.write(SOURCE)
    result = project.run("view", "skeleton", "d")
    assert result.code == 0
    assert result.out == f'==> "d/\\u001b[31mred.py" <==\n{SKELETON}\n==> "d/\\xff.py" <==\n{SKELETON}'
    results: list[CommandResult] = [project.run("view", "skeleton", "d", "--json")]
    assert [file["path"] for file in json.loads(results[0].out)["files"]] == ["d/\x1b[31mred.py", "d/\ufffd.py"]


def test_a_name_cannot_pass_for_the_heading_of_another_file(project: Project) -> None:
    project.write("d/a <==\nx = 1\n\n==> d/z.py", SOURCE)
    (project.root / "d" / "gone\nskipped b").symlink_to("a.py")
    result = project.run("view", "skeleton", "d")
    assert result.out == f'==> "d/a <==\\nx = 1\\n\\n==> d/z.py" <==\n{SKELETON}'
    assert result.err.splitlines()[0] == 'skipped "d/gone\\nskipped b": a link, not followed'


def test_a_name_that_is_no_text_can_be_given(project: Project) -> None:
    with open(os.path.join(os.fsencode(project.root), b"\xff.py"), "w") as file:
        file.write(SOURCE)
    assert project.run("view", "skeleton", os.fsdecode(b"\xff.py")).out == SKELETON


@pytest.mark.parametrize(
    ("where", "message"),
    [(">/dev/full", "interlock: the output cannot be written: No space left on device\n"), (">&-", "1 file:")],
)
@pytest.mark.parametrize("how", ["", "--json"])
def test_output_that_cannot_be_written_is_reported_in_a_line(
    project: Project, where: str, message: str, how: str
) -> None:
    line = " ".join(project.argv("view", "skeleton", "a.py", how))
    done = subprocess.run(
        ["sh", "-c", f"{line} {where}"], cwd=project.root, env=project.env, capture_output=True, text=True, timeout=60
    )
    assert (done.stderr.count("\n"), done.stderr[: len(message)]) == (1, message)


def test_a_pipe_that_closes_early(project: Project) -> None:
    for number in range(50):
        project.write(f"d/f{number}.py", SOURCE * 200)
    line = " ".join(project.argv("view", "curated", "d"))
    project.write("go.sh", f"{line} 2>err | head -c 5 >out\n")
    subprocess.run(["sh", "go.sh"], cwd=project.root, env=project.env, check=True, timeout=60)
    assert (project.root / "out").read_text() == "==> d"
    assert "Traceback" not in (project.root / "err").read_text()


def test_help_loads_no_parser() -> None:
    heavy = {"tree_sitter", "tree_sitter_python", "splintr", "multiprocessing", "msgspec"}
    assert imported_by("view", "--help") & heavy == set()


def test_only_the_grammar_that_is_needed_is_loaded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.home))
    loaded = imported_by("view", "skeleton", str(project.root / "a.py"), "--no-cache")
    assert {name for name in loaded if name.startswith("tree_sitter_")} == {"tree_sitter_python"}
