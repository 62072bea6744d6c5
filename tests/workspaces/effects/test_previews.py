"""The preview of a script equals its result: bytes, permissions, links, deletions; and an undo takes it back."""

import asyncio
import os
from pathlib import Path

import pytest

from interlock.errors import Rejected
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from interlock.workspaces.effects import layers
from interlock.workspaces.effects.describing import described
from tests.workspaces.effects.corpus import HAND, generated
from tests.workspaces.effects.scene import AVAILABLE, Scene, make_project, tree

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="bubblewrap is not installed")
FEW = (*HAND[::3], *generated(6))


async def compare(folder: Path, script: str) -> None:
    scene, real = Scene(folder / "one"), make_project(folder / "two" / "project")
    before = tree(scene.root)
    found = await scene.preview(script)
    assert (found.unknown, tree(scene.root)) == ("", before), "a preview changes nothing"
    await scene.run(script, root=real)
    outcome = await scene.apply(found.digest)
    after = tree(real)
    assert tree(scene.root) == after, outcome.text
    entry = scene.undo.next_undo()
    if before != after:
        assert entry is not None
        scene.undo.undo(entry)
        assert tree(scene.root) == before, "an undo is exact"
        scene.undo.redo(scene.undo.get(entry.id))
        assert tree(scene.root) == after, "and so is a redo"


@pytest.mark.parametrize("script", FEW)
def test_the_preview_of_a_command_is_its_result(tmp_path: Path, script: str) -> None:
    asyncio.run(compare(tmp_path, script))


@pytest.mark.soak
@pytest.mark.parametrize("script", (*HAND, *generated(200 - len(HAND), seed=12)))
def test_the_previews_of_two_hundred_commands_are_their_results(tmp_path: Path, script: str) -> None:
    asyncio.run(compare(tmp_path, script))


@pytest.mark.parametrize(
    ("script", "moves", "named"),
    [
        ("sed -i s/one/two/ a.txt", lambda root: (root / "a.txt").write_text("mine\n"), "a.txt"),
        ("rm a.txt", lambda root: (root / "a.txt").write_text("mine\n"), "a.txt"),
        ("rm -r docs", lambda root: (root / "docs/guide.md").write_text("mine\n"), "docs/guide.md"),
        ("echo new > new.txt", lambda root: (root / "new.txt").write_text("mine\n"), "new.txt"),
        ("mkdir new", lambda root: (root / "new").write_text("mine\n"), "new"),
        ("chmod 700 a.txt", lambda root: (root / "a.txt").chmod(0o600), "a.txt"),
        ("ln -s a.txt new", lambda root: (root / "new").symlink_to("/etc"), "new"),
        ("echo x > docs/new.md", lambda root: swap_for_link(root / "docs"), "docs/new.md"),
        ("sed -i s/one/two/ a.txt", lambda root: (root / "a.txt").unlink(), "a.txt"),
        ("echo x > src/new.py", lambda root: swap_for_link(root / "src"), "src/new.py"),
    ],
)
def test_a_changed_base_is_refused_and_nothing_is_changed(
    tmp_path: Path, script: str, moves: object, named: str
) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        found = await scene.preview(script)
        moves(scene.root)  # pyright: ignore[reportCallIssue]
        before = tree(scene.root)
        outcome = await scene.apply(found.digest)
        if "docs/new" in script or "src/new" in script:
            assert outcome.failed
        else:
            assert (outcome.failed, f"changed since: {named}" in outcome.text) == (True, True), outcome
        assert tree(scene.root) == before
        assert list((tmp_path / "outside").glob("*")) == [] if (tmp_path / "outside").exists() else True

    asyncio.run(story())


def swap_for_link(folder: Path) -> None:
    """A link in the place of a folder, as a script or another user could plant it."""
    folder.rename(folder.with_name("moved"))
    outside = folder.parent.parent / "outside"
    outside.mkdir()
    folder.symlink_to(outside)


def test_a_new_file_in_a_removed_folder_is_kept(tmp_path: Path) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        found = await scene.preview("rm -r docs")
        (scene.root / "docs/mine.md").write_text("mine\n")
        before = tree(scene.root)
        outcome = await scene.apply(found.digest)
        assert (outcome.failed, "docs" in outcome.text) == (True, True), outcome
        assert tree(scene.root) == before

    asyncio.run(story())


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("mkfifo pipe", "it makes a device, socket or pipe: pipe"),
        (
            "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\"",
            "it makes a device, socket or pipe: sock",
        ),
        ("sleep 30", "it takes too long to be tried first"),
        ("truncate -s 3G huge", "the changed files have more than 2 GiB"),
    ],
)
def test_what_cannot_be_previewed_says_why(tmp_path: Path, script: str, reason: str) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        scene.timeout_s = 2
        before = tree(scene.root)
        found = await scene.preview(script)
        assert (found.unknown, found.digest) == (reason, "")
        assert tree(scene.root) == before

    asyncio.run(story())


def test_too_many_files_are_refused_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "MOST_PATHS", 100)
    found = asyncio.run(Scene(tmp_path).preview("for i in $(seq 150); do : > n$i; done"))
    assert found.unknown == "it changes more than 100 files"


@pytest.mark.soak
def test_a_hundred_thousand_files_are_refused_with_a_sentence(tmp_path: Path) -> None:
    script = "python3 -c \"for i in range(100000): open(f'n{i}', 'w').close()\""
    assert asyncio.run(Scene(tmp_path).preview(script)).unknown == "it changes more than 50,000 files"


def test_set_user_id_bits_are_left_out_and_named(tmp_path: Path) -> None:
    """The sandbox forbids to set them; a file system could bring them in another way."""
    lower, upper = tmp_path / "lower", tmp_path / "upper"
    lower.mkdir()
    upper.mkdir()
    (upper / "tool").write_text("x")
    (upper / "tool").chmod(0o6755)
    effect = layers.read_overlay(str(upper), str(lower), 1 << 62)
    assert (effect.stripped, effect.changes[0].after.mode) == (("tool",), 0o755)
    (file,), _, _ = described(effect.changes, os.fsencode(lower), os.fsencode(upper), effect.stripped)
    assert file.detail == "0755; set-user-id and similar bits are left out"


def test_the_folders_of_git_and_of_interlock_are_not_part_of_a_preview(tmp_path: Path) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        (scene.root / ".interlock").mkdir()
        (scene.root / ".interlock/token").write_text("secret")
        (scene.root / ".git").mkdir()
        (scene.root / ".git/config").write_text("[core]\n")
        found = await scene.preview(
            "cat .interlock/token; echo x >> .git/config; rm -rf .git .interlock; echo y > a.txt"
        )
        assert [file.path for file in found.files] == ["a.txt"]
        assert found.outcome is not None
        assert "secret" not in found.outcome.text
        await scene.apply(found.digest)
        assert (scene.root / ".git/config").read_text() == "[core]\n"

    asyncio.run(story())


def test_a_preview_is_used_again_until_its_base_moves(tmp_path: Path) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        script = "date +%N > now.txt; echo x >> a.txt"
        first = await scene.preview(script)
        assert await scene.preview(script) == first, "it did not run again"
        (scene.root / "a.txt").write_text("mine\n")
        again = await scene.preview(script)
        assert (again.digest != first.digest, again.moved) == (True, ("a.txt",))

    asyncio.run(story())


def test_a_renamed_folder_is_previewed_in_a_copy_because_an_overlay_refuses_it(tmp_path: Path) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        found = await scene.preview("python3 -c \"import os; os.rename('docs', 'manual')\"")
        assert [(file.change, file.path) for file in found.files if file.path.count("/") == 0] == [
            ("deleted", "docs"),
            ("added", "manual"),
        ]

    asyncio.run(story())


def test_without_bubblewrap_the_reason_is_given(tmp_path: Path) -> None:
    found = asyncio.run(Scene(tmp_path, UnconfinedSandbox()).preview("echo x > new.txt"))
    assert found.unknown == "only the sandbox made with bubblewrap can keep the changes of a command apart"


def test_a_killed_preview_is_swept_and_one_that_is_waited_for_stays(tmp_path: Path) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        await scene.preview("echo x > new.txt", key="D-1-one")
        await scene.preview("echo x > new.txt", key="D-2-two")
        folder = tmp_path / "state" / "previews" / "p"
        (folder / "D-1-half" / "work" / "work").mkdir(parents=True)
        (folder / "D-1-half" / "work" / "work").chmod(0)
        scene.previews.sweep(["D-1-"])
        assert sorted(os.listdir(folder)) == ["D-1-one"]

    asyncio.run(story())


def test_an_undo_is_refused_with_names_if_the_user_changed_the_files_since(tmp_path: Path) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        found = await scene.preview("echo x >> a.txt; rm docs/guide.md")
        await scene.apply(found.digest)
        (scene.root / "a.txt").write_text("mine\n")
        before = tree(scene.root)
        entry = scene.undo.next_undo()
        assert entry is not None
        with pytest.raises(Rejected, match=r"changed since: a\.txt"):
            scene.undo.undo(entry)
        assert tree(scene.root) == before

    asyncio.run(story())


def test_changes_that_were_applied_before_a_crash_are_not_applied_again(tmp_path: Path) -> None:
    async def story() -> None:
        scene = Scene(tmp_path)
        found = await scene.preview("echo x >> a.txt; echo said")
        await scene.apply(found.digest)
        after = tree(scene.root)
        again = await scene.preview("echo x >> a.txt; echo said")
        assert again == found, "the script did not run again"
        outcome = await scene.apply(found.digest)
        assert (outcome.failed, "said" in outcome.text, tree(scene.root)) == (False, True, after)

    asyncio.run(story())


def test_no_link_is_stored_in_the_folder_of_interlock(tmp_path: Path) -> None:
    """The sandbox hides what a link there leads to, and the project would not count any more."""

    async def story() -> None:
        scene = Scene(tmp_path)
        found = await scene.preview("rm link; ln -s /usr/bin tools; rm a.txt; ln -s docs a.txt")
        await scene.apply(found.digest)
        entry = scene.undo.next_undo()
        assert entry is not None
        scene.undo.undo(entry)
        stored = list((scene.root / ".interlock").rglob("*"))
        assert stored
        assert [path for path in stored if path.is_symlink()] == []
        assert list(scene.root.glob(".interlock-*")) == []

    asyncio.run(story())
