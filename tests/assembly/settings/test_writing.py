"""Changing single keys leaves all other bytes of the file unchanged."""

import os
from pathlib import Path

import pytest

from interlock.assembly.settings.writing import write_keys
from interlock.errors import Misconfigured

NAME, MODEL = ("provider", "name"), ("provider", "model")


def test_a_new_file_holds_just_the_keys(tmp_path: Path) -> None:
    file = tmp_path / "interlock.toml"
    write_keys(file, {NAME: "scripted", MODEL: "m"})
    assert file.read_text() == '[provider]\nname = "scripted"\nmodel = "m"\n'


def test_comments_order_and_line_endings_stay(tmp_path: Path) -> None:
    file = tmp_path / "interlock.toml"
    lines = (
        "# mine",
        'sandbox = "auto" # really',
        "",
        "[provider] # who",
        'name = "gemini_cli"',
        "",
        "[gates]",
        "x = 3",
    )
    before = "".join(f"{line}\r\n" for line in lines)
    file.write_bytes(before.encode())
    write_keys(file, {NAME: "scripted"})
    assert file.read_bytes().decode() == before.replace("gemini_cli", "scripted")


def test_an_empty_text_removes_the_key_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "interlock.toml"
    file.write_text('[provider]\nname = "a"\nmax_in_flight = 2\n')
    write_keys(file, {NAME: "", MODEL: ""})
    assert file.read_text() == "[provider]\nmax_in_flight = 2\n"


def test_nothing_is_written_where_nothing_changes(tmp_path: Path) -> None:
    file = tmp_path / "interlock.toml"
    write_keys(file, {NAME: ""})
    assert not file.exists()
    file.write_text("# odd   spacing\n[provider]\nname='scripted'\n")
    before = file.stat().st_mtime_ns
    write_keys(file, {NAME: "scripted"})
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", [b"[provider\n", b"\xff\xfe", b"provider = 3\n"])
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "interlock.toml"
    file.write_bytes(content)
    with pytest.raises(Misconfigured):
        write_keys(file, {NAME: "scripted"})
    assert file.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="cannot write"):
        write_keys(tmp_path / "none" / "interlock.toml", {NAME: "scripted"})


def test_a_link_stays_a_link_and_its_file_in_the_project_is_written(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/own.toml").write_text("# mine\n")
    (tmp_path / "interlock.toml").symlink_to("conf/own.toml")
    write_keys(tmp_path / "interlock.toml", {("provider", "name"): "x"})
    assert (tmp_path / "interlock.toml").is_symlink()
    written = (tmp_path / "conf/own.toml").read_text()
    assert written.startswith("# mine\n") and written.endswith('[provider]\nname = "x"\n')


@pytest.mark.parametrize(
    "target", ["../outside.toml", ".git/config", ".interlock/x.toml", "notes.txt", "gone/../../o.toml"]
)
def test_a_link_to_anything_else_is_refused_and_nothing_is_written(tmp_path: Path, target: str) -> None:
    root = tmp_path / "project"
    for folder in (".git", ".interlock"):
        (root / folder).mkdir(parents=True)
    file = Path(os.path.normpath(root / target))
    file.write_text("[core]\nbare = false\n")
    (root / "interlock.toml").symlink_to(target)
    with pytest.raises(Misconfigured, match=r"is a symbolic link to .*replace the link by a file"):
        write_keys(root / "interlock.toml", {("provider", "name"): "x"})
    assert file.read_text() == "[core]\nbare = false\n"
    assert (root / "interlock.toml").is_symlink()
