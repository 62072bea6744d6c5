# ruff: noqa: ASYNC240  each story is the only running coroutine
"""The normal sequence of a ticket: prepare, save, show, combine, publish."""

import os
from pathlib import Path

import pytest
from msgspec import UNSET

from interlock.domain.values.tickets import Saved
from interlock.errors import Rejected
from interlock.ports.workspaces import Combined, Conflict
from tests.workspaces.desk import Desk, attempt, merge, run, writes


def test_a_track_starts_at_head_and_starting_it_again_changes_nothing(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        head = desk.git("rev-parse", "HEAD")
        assert await store.start_track("t.1-a") == head
        desk.write({"later": "x"})
        desk.commit("later")
        assert await store.start_track("t.1-a") == head
        assert desk.git("rev-parse", "refs/heads/interlock/t.1-a") == head

    run(story())
    desk.assert_sound()


def test_a_worktree_lies_outside_the_project_and_git_works_inside(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        base = await store.start_track("t")
        workspace = await store.prepare("t", "T-001")
        folder = Path(workspace.path)
        assert workspace.path == store.path_for("t", "T-001")
        assert folder.is_relative_to(desk.state / "worktrees")
        assert (workspace.base, workspace.git_dir) == (base, str(desk.project / ".git"))
        assert (folder / "src/a.py").read_text() == "a = 1\n"
        assert desk.git("status", "--porcelain", cwd=folder) == ""
        assert desk.git("rev-parse", "HEAD", cwd=folder) == base

    run(story())
    desk.assert_sound()


def test_all_kinds_of_changes_are_saved_and_ignored_files_are_not(desk: Desk) -> None:
    odd = os.fsdecode(b"caf\xe9 \n\xff.txt")

    def work(folder: Path) -> None:
        (folder / "README").unlink()
        (folder / "src/a.py").chmod(0o755)
        (folder / "link").symlink_to("src/a.py")
        (folder / "to nowhere").symlink_to("/etc/shadow")
        (folder / odd).write_text("odd")
        (folder / "ünï cödé").mkdir()
        (folder / "ünï cödé" / "file with spaces").write_text("x")
        (folder / "noise.log").write_text("ignored")
        os.mkfifo(folder / "pipe")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", work)
        listed = desk.git("ls-tree", "-r", "-z", saved.commit).split("\0")
        assert [" ".join(entry.split()[:2]) + " " + entry.partition("\t")[2] for entry in listed if entry] == [
            "100644 blob .gitignore",
            "100644 blob " + r"caf\xe9 " + "\n" + r"\xff.txt",
            "120000 blob link",
            "100755 blob src/a.py",
            "120000 blob to nowhere",
            "100644 blob ünï cödé/file with spaces",
        ]
        assert saved.base == workspace.base
        assert desk.git("rev-parse", "refs/interlock/attempts/t/T-1/1") == saved.commit
        assert desk.git("log", "-1", "--format=%B", saved.commit) == "Work on T-1\n\nTicket: T-1\nAttempt: 1"
        assert desk.git("cat-file", "-p", f"{saved.commit}:to nowhere") == "/etc/shadow"

    run(story())
    desk.assert_sound()


def test_an_attempt_that_changed_nothing_makes_no_commit_on_the_branch(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", lambda folder: None)
        assert saved.tree == desk.git("rev-parse", f"{workspace.base}^{{tree}}")
        assert saved.empty is True
        combined = await merge(store, "t", "T-1", saved)
        assert combined == Combined(workspace.base, workspace.base, saved.tree, empty=True)
        assert desk.git("rev-parse", "interlock/t") == workspace.base
        _, one = await attempt(store, "t", "T-2", writes("x", "1"))
        assert one.empty is UNSET
        first = await store.combine("t", "T-2", one, "Do it")
        assert isinstance(first, Combined)
        chained = await store.combine("t", "T-1", saved, "Nothing", first.commit)
        assert chained == Combined(first.commit, first.commit, first.tree, empty=True)
        assert await store.publish("t", Combined(first.tip, first.commit, first.tree))

    run(story())
    desk.assert_sound()


def test_files_and_folders_may_take_each_others_place(desk: Desk) -> None:
    def work(folder: Path) -> None:
        (folder / "README").unlink()
        (folder / "README").mkdir()
        (folder / "README/part").write_text("1")
        (folder / "src/a.py").unlink()
        (folder / "src").rmdir()
        (folder / "src").write_text("now a file")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", "-r", "--name-only", saved.commit).split() == [".gitignore", "README/part", "src"]
        await store.show_tree("t", "T-1", saved.base)
        assert (Path(store.path_for("t", "T-1")) / "src/a.py").exists()

    run(story())
    desk.assert_sound()


def test_a_folder_that_became_a_link_to_its_copy_is_saved_and_shown_right(desk: Desk) -> None:
    def work(folder: Path) -> None:
        (folder / "src").rename(folder / "moved")
        (folder / "src").symlink_to("moved")

    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", work)
        assert desk.git("ls-tree", "-r", "--name-only", saved.commit).split() == [
            ".gitignore",
            "README",
            "moved/a.py",
            "src",
        ]
        work(Path((await store.prepare("t", "T-1")).path))
        await store.show_tree("t", "T-1", workspace.base)
        folder = Path(workspace.path)
        assert not (folder / "src").is_symlink() and not (folder / "moved").exists()
        assert (folder / "src/a.py").read_text() == "a = 1\n"

    run(story())
    desk.assert_sound()


def test_showing_a_tree_removes_everything_else_also_what_git_ignores(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace, saved = await attempt(store, "t", "T-1", writes("new.py", "new"))
        folder = Path(workspace.path)
        desk.write({"left/over": "x", "build.log": "cache", "src/a.py": "broken", "hidden/.gitignore": "*\n"}, folder)
        desk.write({"src/.gitignore": "junk\n", "src/junk": "x"}, folder)
        (folder / "README").unlink()
        await store.show_tree("t", "T-1", saved.commit)
        shown = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        assert shown == [".git", ".gitignore", "README", "new.py", "src/a.py"]
        assert not (folder / "hidden").exists()
        assert (folder / "src/a.py").read_text() == "a = 1\n"
        assert desk.git("rev-parse", "HEAD", cwd=folder) == saved.commit

    run(story())
    desk.assert_sound()


def test_a_tree_is_shown_in_a_new_process_even_if_the_folder_is_gone(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("new.py", "new"))
        await store.remove("t", "T-1")
        assert not Path(store.path_for("t", "T-1")).exists()
        assert desk.git("worktree", "list").count("\n") == 0
        shown = await (await desk.open()).show_tree("t", "T-1", saved.commit)
        assert (Path(shown.path) / "new.py").read_text() == "new"

    run(story())
    desk.assert_sound()


def test_a_change_within_the_same_second_and_of_the_same_size_is_seen(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        for number in range(1, 6):
            workspace, saved = await attempt(store, "t", "T-1", writes("src/a.py", f"a = {number + 1}\n"), number)
            assert desk.git("show", f"{saved.commit}:src/a.py") == f"a = {number + 1}"
            await store.show_tree("t", "T-1", workspace.base)
            assert (Path(workspace.path) / "src/a.py").read_text() == "a = 1\n"

    run(story())


def test_disjoint_tickets_are_merged_with_one_commit_each(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        base = await store.start_track("t")
        _, first = await attempt(store, "t", "A.1-x", writes("one", "1"))
        _, second = await attempt(store, "t", "B_2", writes("two", "2"), 3)
        await merge(store, "t", "A.1-x", first)
        combined = await merge(store, "t", "B_2", second)
        log = desk.git("log", "--reverse", "--format=%s|%(trailers:separator=%x2C)", f"{base}..interlock/t")
        assert log.split("\n") == ["Do A.1-x|Ticket: A.1-x,Attempt: 1", "Do B_2|Ticket: B_2,Attempt: 3"]
        assert desk.git("ls-tree", "--name-only", combined.commit).split() == [
            ".gitignore",
            "README",
            "one",
            "src",
            "two",
        ]
        assert desk.git("rev-list", "--merges", "interlock/t") == ""

    run(story())
    desk.assert_sound()


def test_tickets_put_on_one_another_are_published_at_once_with_a_commit_each(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        base = await store.start_track("t")
        saved = [(await attempt(store, "t", name, writes(name, name)))[1] for name in ("a", "b", "c")]
        clash = (await attempt(store, "t", "d", writes("b", "another")))[1]
        assert await store.merged_commit("t", "a") is None  # fills the cache, which must be updated later
        chain: list[Combined] = []
        for name, work in zip(("a", "b", "c"), saved, strict=True):
            onto = chain[-1].commit if chain else None
            combined = await store.combine("t", name, work, f"Do {name}", onto)
            assert isinstance(combined, Combined)
            chain.append(combined)
        assert isinstance(await store.combine("t", "d", clash, "Do d", chain[-1].commit), Conflict)
        assert desk.git("rev-list", "--count", f"{base}..interlock/t") == "0"
        assert await store.publish("t", Combined(chain[0].tip, chain[-1].commit, chain[-1].tree))
        for later in (store, await desk.open()):
            commits = [await later.merged_commit("t", name) for name in ("a", "b", "c", "d")]
            assert commits == [*(combined.commit for combined in chain), None]
        log = desk.git(
            "log", "--reverse", "--format=%s|%(trailers:key=Ticket,valueonly,separator=%x2C)", f"{base}..interlock/t"
        )
        assert log.split("\n") == ["Do a|a", "Do b|b", "Do c|c"]

    run(story())
    desk.assert_sound()


def test_combining_and_publishing_twice_leaves_one_commit(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        base = await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", writes("one", "1"))
        combined = await merge(store, "t", "T-1", saved)
        assert await store.publish("t", combined)
        for later in (store, await desk.open()):
            again = await later.combine("t", "T-1", saved, "Do T-1")
            assert isinstance(again, Combined)
            assert again == Combined(combined.commit, combined.commit, combined.tree)
            assert await later.publish("t", again)
            assert await later.merged_commit("t", "T-1") == combined.commit
            assert await later.merged_commit("t", "T-2") is None
        assert desk.git("rev-list", "--count", f"{base}..interlock/t") == "1"

    run(story())
    desk.assert_sound()


def test_publishing_on_a_tip_that_moved_is_refused(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        _, first = await attempt(store, "t", "A", writes("one", "1"))
        _, second = await attempt(store, "t", "B", writes("two", "2"))
        stale = await store.combine("t", "B", second, "Do B")
        await merge(store, "t", "A", first)
        assert isinstance(stale, Combined)
        assert not await store.publish("t", stale)
        await merge(store, "t", "B", second)

    run(story())
    desk.assert_sound()


def test_two_tickets_that_edit_one_line_conflict_with_paths_and_hunks(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        _, first = await attempt(store, "t", "A", writes("src/a.py", "a = 2\n"))
        _, second = await attempt(store, "t", "B", writes("src/a.py", "a = 3\n"))
        combined = await merge(store, "t", "A", first)
        conflict = await store.combine("t", "B", second, "Do B")
        assert isinstance(conflict, Conflict)
        assert conflict.paths == ("src/a.py",)
        for part in ("CONFLICT (content)", "<<<<<<< interlock/t", "+a = 3", "+>>>>>>> B"):
            assert part in conflict.text
        assert desk.git("rev-parse", "interlock/t") == combined.commit

    run(story())
    desk.assert_sound()


def test_a_message_cannot_claim_another_ticket(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "A", writes("one", "1"))
        combined = await store.combine("t", "A", saved, "Sneaky\n\nTicket: B\nTicket: C\n---\n# note \0")
        assert isinstance(combined, Combined)
        assert await store.publish("t", combined)
        for later in (store, await desk.open()):
            commits = [await later.merged_commit("t", name) for name in ("A", "B", "C")]
            assert commits == [combined.commit, None, None]

    run(story())
    desk.assert_sound()


def test_an_unknown_track_and_a_lost_commit_are_refused_by_name(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        with pytest.raises(Rejected, match="track 'ghost' has no branch"):
            await store.prepare("ghost", "T-1")
        await store.start_track("t")
        with pytest.raises(Rejected, match="missing"):
            await store.combine("t", "T-1", Saved("1" * 40, "2" * 40, "3" * 40), "x")
        assert await store.merged_commit("ghost", "T-1") is None

    run(story())


def test_two_hundred_tickets_in_a_row_come_out_in_order(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        base = await store.start_track("t")
        for number in range(200):
            _, saved = await attempt(store, "t", f"T-{number}", writes(f"out/{number}", str(number)))
            await merge(store, "t", f"T-{number}", saved)
            await store.remove("t", f"T-{number}")
        names = desk.git(
            "log", "--reverse", "--format=%(trailers:key=Ticket,valueonly,separator=)", f"{base}..interlock/t"
        )
        assert names.split("\n") == [f"T-{number}" for number in range(200)]
        fresh = await desk.open()
        assert [await fresh.merged_commit("t", f"T-{number}") is not None for number in (0, 199, 200)] == [
            True,
            True,
            False,
        ]

    run(story())
    desk.assert_sound()


def test_the_usual_steps_need_few_processes(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        counts: dict[str, int] = {}

        def counted(step: str) -> None:
            counts[step] = len(desk.runner.commands)
            desk.runner.commands.clear()

        _, other = await attempt(store, "t", "T-0", writes("zero", "0"))
        await merge(store, "t", "T-0", other)
        counted("before")
        workspace = await store.prepare("t", "T-1")
        counted("prepare")
        desk.write({"one": "1", "src/a.py": "x"}, Path(workspace.path))
        saved = await store.save(workspace, "t", "T-1", 1, "x")
        counted("save")
        await store.show_tree("t", "T-1", saved.commit)
        counted("show")
        await merge(store, "t", "T-1", saved)
        counted("combine and publish")
        assert {step: count for step, count in counts.items() if step != "before"} == {
            "prepare": 1,
            "save": 3,
            "show": 1,
            "combine and publish": 1,
        }

    run(story())


def test_after_its_branch_was_deleted_a_track_begins_at_todays_head(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        desk.write({"later": "x"})
        desk.commit("later")
        desk.git("branch", "-D", "interlock/t")
        assert await store.start_track("t") == desk.git("rev-parse", "HEAD")

    run(story())
    desk.assert_sound()


def test_the_tickets_on_a_branch_can_be_listed(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        assert await store.merged_tickets("t") == frozenset()
        await store.start_track("t")
        for name in ("T-1", "T-2"):
            _, saved = await attempt(store, "t", name, writes(name, "x"))
            await merge(store, "t", name, saved)
        assert await store.merged_tickets("t") == {"T-1", "T-2"}

    run(story())
    desk.assert_sound()


def test_retiring_keeps_work_that_is_on_no_ref_yet_and_only_that(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        await store.start_track("t")
        workspace = await store.prepare("t", "T-1")
        (Path(workspace.path) / "half").write_text("half done")
        await store.retire("t", "T-1", 1, "Half done")
        assert not Path(workspace.path).exists()
        assert desk.git("show", "refs/interlock/attempts/t/T-1/1:half") == "half done"
        workspace = await store.prepare("t", "T-1")
        saved = await store.save(workspace, "t", "T-1", 2, "Whole")
        (Path(workspace.path) / "rubbish").write_text("made by a gate")
        await store.retire("t", "T-1", 2, "Whole")
        assert desk.git("rev-parse", "refs/interlock/attempts/t/T-1/2") == saved.commit
        await store.retire("t", "T-9", 1, "never made")

    run(story())
    desk.assert_sound()


def test_the_changes_of_an_attempt_are_summed_up(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        base = await store.start_track("t")
        _, saved = await attempt(store, "t", "T-001", writes("new/file.py", "1\n2\n"))
        assert await store.changed(base, saved.commit) == (" new/file.py | 2 ++\n 1 file changed, 2 insertions(+)\n")
        assert await store.changed(base, base) == ""

    run(story())


def test_a_file_of_a_commit_is_read_once_and_what_may_change_is_read_again(desk: Desk) -> None:
    async def story() -> None:
        store = await desk.repository().open()
        first = desk.git("rev-parse", "HEAD")
        desk.write({"src/a.py": "a = 2\n"})
        second = desk.commit("later") or desk.git("rev-parse", "HEAD")
        for _ in range(2):
            assert await store.read(first, "src/a.py") == b"a = 1\n"
            assert await store.read(second, "src/a.py") == b"a = 2\n"
            assert await store.read(first, "none.md") is None
        reads = [words for words in desk.runner.commands if "cat-file" in words and "blob" in words]
        assert len(reads) == 3
        desk.runner.commands.clear()
        for _ in range(2):
            assert await store.read(second[:12], "src/a.py") == b"a = 2\n"
        assert len(desk.runner.commands) == 2

    run(story())


def test_the_changes_of_an_attempt_are_listed_by_file(desk: Desk) -> None:
    def change(folder: Path) -> None:
        (folder / "kept.txt").write_text("other\n")
        (folder / "gone ü\n.txt").unlink()
        (folder / "new.txt").write_text("new\n")
        (folder / "moved.txt").rename(folder / "there.txt")

    async def story() -> None:
        files = {name: f"{name}\n" for name in ("kept.txt", "gone ü\n.txt", "moved.txt")}
        store = await desk.repository(files).open()
        base = await store.start_track("t")
        _, saved = await attempt(store, "t", "T-001", change)
        changes = await store.changes(base, saved.commit)
        assert [(one.how, one.path, bool(one.blob)) for one in changes] == [
            ("deleted", "gone ü\n.txt", False),
            ("changed", "kept.txt", True),
            ("deleted", "moved.txt", False),
            ("added", "new.txt", True),
            ("added", "there.txt", True),
        ]
        assert await store.changes(base, base) == ()
        diff = await store.diff(saved.commit)
        assert ("+other\n" in diff, "+new\n" in diff, "rename to there.txt" in diff) == (True, True, True)

    run(story())
