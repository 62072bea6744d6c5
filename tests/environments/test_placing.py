"""Worktrees share installed packages: each gets its own paths, none can change another's, and the disk is used once."""

import os
import stat
from pathlib import Path

import pytest

from interlock.environments.collecting import collect, rewritten
from interlock.environments.manifest import Manifest
from interlock.environments.placing import FILES, HOME, Placed, place, remove, sweep
from interlock.environments.store import EnvironmentStore


class Shop:
    """A checkout in which packages were installed, and worktrees to put them into."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.made = root / "made in"
        self.made.mkdir()
        self.store = EnvironmentStore(root / "store")
        self.tracked = {b"src/shop.py", b"packages/a/package.json"}
        for path in self.tracked:
            self.write(os.fsdecode(path), "tracked")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        file = self.made / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def link(self, path: str, target: str) -> None:
        file = self.made / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)

    def kept(self, key: str = "k" * 40) -> Manifest:
        results = collect(str(self.made), self.tracked)
        making = self.store.new_folder()
        for path in (*results.linked, *results.copied):
            target = making / FILES / path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(self.made / path, target)
        manifest = Manifest(
            key=key,
            project="/shop",
            commands=("make",),
            made_in=os.path.realpath(self.made),
            made_at=1.0,
            linked=results.linked,
            copied=results.copied,
            naming=results.naming,
            links=results.links,
            home=(("CARGO_HOME", "{home}/.cargo"),) if (making / HOME).exists() else (),
            size=results.size,
            count=results.count,
            digest=results.digest,
        )
        return self.store.keep(making, manifest)

    def worktree(self, name: str, manifest: Manifest) -> tuple[Path, Placed]:
        folder = self.root / name
        (folder / "src").mkdir(parents=True)
        (folder / "packages" / "a").mkdir(parents=True)
        return folder, place(self.store.folder, manifest, str(folder))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def _venv(shop: Shop) -> None:
    shop.write(".venv/pyvenv.cfg", f"home = /usr/bin\ncommand = python -m venv {shop.made}/.venv\n")
    shop.write(".venv/bin/tool", f"#!{shop.made}/.venv/bin/python\nprint(1)\n", 0o755)
    shop.write(".venv/lib/site-packages/shop.pth", f"{shop.made}/src\n")
    shop.write(".venv/lib/site-packages/big.py", "x = 1\n" * 1000)
    shop.link(".venv/bin/python", "/usr/bin/python3")


def test_a_virtual_environment_leads_to_its_own_worktree(shop: Shop) -> None:
    _venv(shop)
    manifest = shop.kept()
    one, placed = shop.worktree("one", manifest)
    two, _ = shop.worktree("the second", manifest)
    for folder in (one, two):
        assert (folder / ".venv/lib/site-packages/shop.pth").read_text() == f"{folder}/src\n"
        assert (folder / ".venv/bin/tool").read_text().startswith(f"#!{folder}/.venv/bin/python\n")
        assert os.access(folder / ".venv/bin/tool", os.X_OK)
        assert os.readlink(folder / ".venv/bin/python") == "/usr/bin/python3"
    assert placed.readable == (os.path.realpath(one / ".venv"),), "the packages are outside the worktree"
    assert not os.path.realpath(one / ".venv").startswith(str(one))


def test_files_that_are_the_same_everywhere_are_on_the_disk_once(shop: Shop) -> None:
    _venv(shop)
    manifest = shop.kept()
    inodes = {(shop.worktree(name, manifest)[0] / ".venv/lib/site-packages/big.py").stat().st_ino for name in "abc"}
    assert len(inodes) == 1


def test_a_new_text_gets_a_new_time_so_that_old_bytecode_does_not_count(shop: Shop) -> None:
    _venv(shop)
    shop.write(".venv/lib/site-packages/finder.py", f"MAPPING = {{'shop': '{shop.made}/src/shop'}}\n")
    os.utime(shop.made / ".venv/lib/site-packages/finder.py", (1, 1))
    folder, _ = shop.worktree("one", shop.kept())
    assert (folder / ".venv/lib/site-packages/finder.py").stat().st_mtime > 1


def test_node_modules_is_a_real_folder_with_a_link_for_each_package(shop: Shop) -> None:
    shop.write("node_modules/left-pad/index.js", "module.exports = 1")
    shop.write("node_modules/@types/node/index.d.ts", "export {}")
    shop.write("node_modules/.cache/x", "cache")
    shop.link("node_modules/.bin/pad", "../left-pad/index.js")
    folder, placed = shop.worktree("one", shop.kept())
    modules = folder / "node_modules"
    assert not modules.is_symlink() and (modules / "left-pad").is_symlink()
    assert (modules / ".bin" / "pad").read_text() == "module.exports = 1"
    assert (modules / "@types" / "node" / "index.d.ts").exists()
    (modules / ".cache").mkdir()
    assert len(placed.readable) == 1


def test_a_link_between_the_packages_of_a_workspace_leads_to_the_worktree(shop: Shop) -> None:
    shop.link("node_modules/a", "../packages/a")
    shop.write("packages/a/node_modules/b/index.js", "1")
    folder, _ = shop.worktree("one", shop.kept())
    assert os.path.realpath(folder / "node_modules" / "a") == str(folder / "packages" / "a")
    assert (folder / "packages/a/node_modules/b/index.js").read_text() == "1"


def test_generated_files_are_copies_of_their_own(shop: Shop) -> None:
    shop.write("src/_version.py", f"where = '{shop.made}'\n")
    shop.write("build/lib.so", "binary\0", 0o755)
    manifest = shop.kept()
    one, _ = shop.worktree("one", manifest)
    two, _ = shop.worktree("two", manifest)
    (one / "build/lib.so").write_text("changed")
    assert (two / "build/lib.so").read_text() == "binary\0"
    assert (two / "src/_version.py").read_text() == f"where = '{two}'\n"
    assert stat.S_IMODE((two / "build/lib.so").stat().st_mode) == 0o755


def test_what_git_has_in_the_worktree_stays(shop: Shop) -> None:
    shop.write("gen.py", "generated")
    shop.write("node_modules/a/index.js", "1")
    manifest = shop.kept()
    folder = shop.root / "one"
    folder.mkdir()
    (folder / "gen.py").write_text("tracked here")
    (folder / "node_modules").write_text("a file")
    placed = place(shop.store.folder, manifest, str(folder))
    assert (folder / "gen.py").read_text() == "tracked here" and (folder / "node_modules").is_file()
    assert placed.readable == ()


def test_nothing_is_written_through_a_link_of_the_project(shop: Shop, tmp_path: Path) -> None:
    shop.write("out/deep/gen.py", "generated")
    manifest = shop.kept()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = shop.root / "one"
    folder.mkdir()
    (folder / "out").symlink_to(elsewhere)
    place(shop.store.folder, manifest, str(folder))
    assert list(elsewhere.iterdir()) == []


def test_caches_are_not_results(shop: Shop) -> None:
    shop.write("src/__pycache__/x.pyc", "1")
    shop.write(".pytest_cache/x", "1")
    assert collect(str(shop.made), shop.tracked).copied == ()


def test_the_digest_names_the_content(shop: Shop) -> None:
    shop.write("gen.py", "one")
    first = collect(str(shop.made), shop.tracked).digest
    assert collect(str(shop.made), shop.tracked).digest == first
    shop.write("gen.py", "two")
    assert collect(str(shop.made), shop.tracked).digest != first


def test_only_the_whole_name_of_a_folder_is_replaced() -> None:
    assert rewritten(b"/a/b/c /a/bc /a/b", b"/a/b", b"/x") == b"/x/c /a/bc /x"


def test_what_was_made_for_a_worktree_goes_with_it(shop: Shop) -> None:
    _venv(shop)
    folder, placed = shop.worktree("one", shop.kept())
    sweep(shop.store.folder)
    assert os.path.isdir(placed.readable[0])
    remove(folder)
    sweep(shop.store.folder)
    assert not os.path.exists(placed.readable[0])


def test_a_folder_that_must_not_be_written_can_be_removed(tmp_path: Path) -> None:
    inner = tmp_path / "go" / "mod"
    inner.mkdir(parents=True)
    (inner / "x").write_text("1")
    inner.chmod(0o555)
    remove(tmp_path / "go")
    assert not (tmp_path / "go").exists()


def test_the_store_finds_lists_and_prunes(shop: Shop) -> None:
    shop.write("gen.py", "x" * 1000)
    old = shop.kept("a" * 40)
    shop.write("gen.py", "y" * 1000)
    new = shop.kept("b" * 40)
    os.utime(shop.store.folder / old.key / "manifest", (1, 1))
    (shop.store.folder / old.key / "used").touch()
    os.utime(shop.store.folder / old.key / "used", (1000, 1000))
    assert [one.manifest.key for one in shop.store.listed()] == [new.key, old.key]
    assert [one.key for one in shop.store.prune(older_than_days=1)] == [old.key]
    assert shop.store.get(old.key) is None and shop.store.get(new.key) == new
    assert [one.key for one in shop.store.prune(larger_than_mb=0)] == [new.key]
    assert shop.store.listed() == []


def test_a_half_made_environment_never_counts_and_is_removed(shop: Shop) -> None:
    left = shop.store.folder / "making" / "999999999-abc"
    (left / "files").mkdir(parents=True)
    own = shop.store.new_folder()
    assert not left.exists() and own.exists(), "a running process keeps its own"
    (shop.store.folder / ("c" * 40)).mkdir()
    (shop.store.folder / ("c" * 40) / "manifest").write_bytes(b"broken")
    assert shop.store.get("c" * 40) is None


def test_the_first_of_two_equal_environments_counts(shop: Shop) -> None:
    shop.write("gen.py", "first")
    first = shop.kept()
    shop.write("gen.py", "second")
    assert shop.kept() == first


def test_ten_worktrees_need_hardly_more_disk_than_one(shop: Shop) -> None:
    _venv(shop)
    for number in range(20):
        shop.write(f".venv/lib/site-packages/part{number}.bin", "x" * 100_000)
    manifest = shop.kept()
    places = [shop.worktree(f"w{number}", manifest)[0] / ".venv" for number in range(10)]
    paths = [path for place_ in places for path in Path(os.path.realpath(place_)).rglob("*")]
    files = [path.stat() for path in paths if path.is_file() and not path.is_symlink()]
    once = {status.st_ino: status.st_size for status in files}
    assert sum(once.values()) < 1.1 * manifest.size
    assert sum(status.st_size for status in files) > 9 * manifest.size


def test_what_a_killed_placing_left_goes_with_its_worktree(shop: Shop) -> None:
    _venv(shop)
    folder, placed = shop.worktree("one", shop.kept())
    own = Path(placed.readable[0]).parent.parent
    remove(own / FILES)  # it was killed before the packages were linked
    sweep(shop.store.folder)
    assert own.exists()
    remove(folder)
    sweep(shop.store.folder)
    assert not own.exists()
