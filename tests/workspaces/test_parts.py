"""Commits with only the accepted parts of a change: exact for text, binaries, modes, links, moves and odd names."""

import os
import random
from pathlib import Path

import pytest

from interlock.domain.review.diff_parts import count_parts, sections_of
from interlock.domain.values.tickets import Saved
from interlock.errors import BranchMoved, Rejected
from interlock.workspaces.git_workspaces import GitWorkspaces
from tests.workspaces.desk import Desk, attempt, merge, run

LINES = [f"line {number}\n" for number in range(60)]


async def _work(desk: Desk, store: GitWorkspaces) -> Saved:
    def work(folder: Path) -> None:
        changed = [*LINES]
        changed[2], changed[30], changed[50:52] = "two\n", "thirty\nmore\n", []
        (folder / "code.txt").write_text("".join(changed))
        (folder / "logo.png").write_bytes(b"\0\1\2new\xff" * 50)
        (folder / "run me.sh").chmod(0o755)
        (folder / "old").rename(folder / "new näme\t.txt")
        (folder / "gone").unlink()
        (folder / "link").symlink_to("code.txt")
        (folder / "no newline").write_bytes(b"caf\xe9\r\nend")
        (folder / "empty").touch()

    _, saved = await attempt(store, "t", "T-1", work)
    return saved


async def _opened(desk: Desk) -> GitWorkspaces:
    desk.repository({"code.txt": "".join(LINES), "run me.sh": "#!/bin/sh\n", "old": "moved\n" * 20, "gone": "x\n"})
    (desk.project / "logo.png").write_bytes(b"\0\1\2old" * 50)
    desk.commit("logo")
    store = await desk.open()
    await store.start_track("t")
    return store


async def _numbers(store: GitWorkspaces, saved: Saved) -> dict[str, list[int]]:
    diff = await store.whole_diff(saved.base, saved.commit)
    return {section.path: list(section.numbers) for section in sections_of(diff)}


def _changed(desk: Desk, saved: Saved) -> list[str]:
    return sorted(desk.git("diff", "--name-only", "--no-renames", "-z", saved.base, saved.commit).split("\0")[:-1])


def test_each_part_alone_is_exactly_that_part(desk: Desk) -> None:
    async def story() -> None:
        store = await _opened(desk)
        saved = await _work(desk, store)
        numbers = await _numbers(store, saved)
        assert len(numbers["code.txt"]) == 3
        first = await store.take_parts("t", "T-1", 1, saved, numbers["code.txt"][1:2], "Do it")
        content = "".join([*LINES[:30], "thirty\nmore\n", *LINES[31:]])
        assert desk.git("show", f"{first.commit}:code.txt") == content.rstrip("\n")
        assert (first.base, _changed(desk, first)) == (saved.base, ["code.txt"])
        for path, paths in (
            ("logo.png", ["logo.png"]),
            ("run me.sh", ["run me.sh"]),
            ("gone", ["gone"]),
            ("link", ["link"]),
            ("no newline", ["no newline"]),
            ("empty", ["empty"]),
        ):
            some = await store.take_parts("t", "T-1", 1, saved, numbers[path], "Do it")
            assert _changed(desk, some) == paths
            entry = desk.git("ls-tree", some.commit, "--", path)
            assert entry == desk.git("ls-tree", saved.commit, "--", path)

    run(story())
    desk.assert_sound()


def test_all_parts_are_the_whole_change_and_a_move_is_one_part(desk: Desk) -> None:
    async def story() -> None:
        store = await _opened(desk)
        saved = await _work(desk, store)
        diff = await store.whole_diff(saved.base, saved.commit)
        whole = await store.take_parts("t", "T-1", 1, saved, range(1, count_parts(diff) + 1), "Do it")
        assert whole.tree == saved.tree
        moved = next(section for section in sections_of(diff) if any("rename" in line for line in section.head))
        some = await store.take_parts("t", "T-1", 1, saved, moved.numbers, "Do it")
        assert len(_changed(desk, some)) == 2
        assert desk.git("rev-parse", "refs/interlock/attempts/t/T-1/1") == saved.commit, (
            "the whole work stays on its ref"
        )

    run(story())


@pytest.mark.parametrize("seed", range(12))
def test_random_parts_equal_the_old_lines_with_these_hunks(desk: Desk, seed: int) -> None:
    """The expected content is made from the old lines and the hunks by another way than a patch."""
    dice = random.Random(seed)

    async def story() -> None:
        old = [f"{dice.randrange(4)}\n" for _ in range(dice.randrange(1, 90))]
        new = list[str]()
        for line in old:
            match dice.randrange(12):
                case 0:
                    pass
                case 1:
                    new += [line, f"new {dice.randrange(3)}\n"]
                case 2:
                    new.append("changed\n")
                case _:
                    new.append(line)
        desk.repository({"f": "".join(old), "g": "g\n"})
        store = await desk.open()
        await store.start_track("t")
        _, saved = await attempt(store, "t", "T-1", lambda folder: (folder / "f").write_text("".join(new)))
        diff = await store.whole_diff(saved.base, saved.commit)
        sections = sections_of(diff)
        if not sections:
            return
        (section,) = sections
        chosen = {number for number in section.numbers if dice.random() < 0.5} or {1}
        some = await store.take_parts("t", "T-1", 1, saved, chosen, "Do it")
        expected, at = list[str](), 0
        for number, hunk in zip(section.numbers, section.hunks, strict=True):
            start = int(hunk[0].split(" ")[1][1:].split(",")[0])
            count = sum(line[0] in " -" for line in hunk[1:])
            begin = start - 1 if count else start
            expected += old[at:begin]
            mark = "+" if number in chosen else "-"
            expected += [f"{line[1:]}\n" for line in hunk[1:] if line[0] in (" ", mark)]
            at = begin + count
        expected += old[at:]
        assert desk.git("show", f"{some.commit}:f") == "".join(expected).rstrip("\n")

    run(story())


def test_parts_that_need_others_are_refused_with_a_reason(desk: Desk) -> None:
    async def story() -> None:
        desk.repository({"a": "a\n"})
        store = await desk.open()
        await store.start_track("t")

        def work(folder: Path) -> None:
            (folder / "a").unlink()
            os.symlink("elsewhere", folder / "a")

        _, saved = await attempt(store, "t", "T-1", work)
        with pytest.raises(Rejected, match="cannot be taken without the others"):
            await store.take_parts("t", "T-1", 1, saved, [2], "Do it")

    run(story())


def test_a_landing_can_be_narrowed_and_landed(desk: Desk) -> None:
    async def story() -> None:
        store = await _opened(desk)
        saved = await _work(desk, store)
        await merge(store, "t", "T-1", saved)
        whole = await store.landing("t")
        numbers = {section.path: section.numbers for section in sections_of(whole.diff)}
        narrow = await store.narrow("t", whole, [*numbers["code.txt"][:1], *numbers["empty"]])
        assert desk.git("rev-parse", "main") == whole.before, "narrowing moves no branch"
        assert desk.git("rev-parse", f"{narrow.after}^") == whole.after
        await store.land("t", narrow)
        assert (desk.project / "code.txt").read_text() == "".join([*LINES[:2], "two\n", *LINES[3:]])
        assert (desk.project / "empty").exists()
        assert (desk.project / "gone").exists()
        assert desk.git("status", "--porcelain") == ""

    run(story())
    desk.assert_sound()


def test_a_landing_is_not_narrowed_after_the_branch_moved(desk: Desk) -> None:
    async def story() -> None:
        store = await _opened(desk)
        await merge(store, "t", "T-1", await _work(desk, store))
        whole = await store.landing("t")
        desk.write({"mine": "mine\n"})
        desk.commit("mine")
        with pytest.raises(BranchMoved, match="main changed"):
            await store.narrow("t", whole, [1])

    run(story())
