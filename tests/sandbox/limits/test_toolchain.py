"""Tools under HOME are visible in the sandbox; other files of HOME are not."""

from pathlib import Path

from interlock.sandbox.limits.toolchain import Toolchain


def shown(home: Path, *entries: str, **variables: str) -> list[str]:
    """The visible paths of HOME for a PATH of these entries, relative to HOME."""
    path = ":".join([*(str(home / entry) for entry in entries), "/usr/bin", "/bin"])
    toolchain = Toolchain({"HOME": str(home), "PATH": path, **variables}, ("/usr/bin/env",))
    return [p.removeprefix(f"{home}/") for p in toolchain.paths if p.startswith(str(home))]


def make(home: Path, *files: str) -> None:
    for name in files:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        link, arrow, target = name.partition(" -> ")
        if arrow:
            (home / link).parent.mkdir(parents=True, exist_ok=True)
            (home / link).symlink_to(target)
        else:
            path.touch(mode=0o755 if "/bin/" in name or path.suffix == ".sh" else 0o644)


def test_nothing_of_home_without_a_reason(tmp_path: Path) -> None:
    make(tmp_path, ".ssh/id_ed25519", ".bashrc", "bin/tool")
    assert shown(tmp_path) == []


def test_the_version_of_the_system_is_shown_because_pip_reads_it(tmp_path: Path) -> None:
    paths = Toolchain({"HOME": str(tmp_path), "PATH": "/usr/bin"}, ("/usr/bin/env",)).paths
    assert ("/etc/debian_version" in paths) == Path("/etc/debian_version").exists()


def test_a_folder_of_programs_is_shown_but_not_what_else_its_tool_keeps(tmp_path: Path) -> None:
    make(tmp_path, ".cargo/bin/cargo", ".cargo/credentials.toml", "go/bin/tool", "go/src/secret", "bin/own")
    assert shown(tmp_path, ".cargo/bin", "go/bin", "bin") == [".cargo/bin", "bin", "go/bin"]


def test_libraries_beside_the_programs_come_along(tmp_path: Path) -> None:
    make(tmp_path, ".local/bin/tool", ".local/lib/python3.11/x.py", ".local/share/keyrings/login.keyring")
    assert shown(tmp_path, ".local/bin") == [".local/bin", ".local/lib"]


def test_a_version_of_node_is_shown_whole(tmp_path: Path) -> None:
    make(tmp_path, ".nvm/versions/node/v20/bin/node", ".nvm/versions/node/v20/lib/node_modules/npm/x", ".nvm/secret")
    assert shown(tmp_path, ".nvm/versions/node/v20/bin") == [".nvm/versions/node/v20"]


def test_pyenv_and_its_like_are_shown_whole_even_as_clones(tmp_path: Path) -> None:
    make(tmp_path, ".pyenv/.git/config", ".pyenv/shims/python", ".pyenv/versions/3.11/bin/python", ".pyenv/bin/pyenv")
    assert shown(tmp_path, ".pyenv/shims", ".pyenv/bin") == [".pyenv"]


def test_rustup_brings_its_toolchains(tmp_path: Path) -> None:
    make(tmp_path, ".cargo/bin/rustup", ".rustup/settings.toml", ".rustup/toolchains/stable/bin/cargo")
    assert shown(tmp_path, ".cargo/bin") == [".cargo/bin", ".rustup"]


def test_a_virtual_environment_is_shown_with_the_python_it_was_made_from(tmp_path: Path) -> None:
    make(tmp_path, "py/3.12/bin/python3.12", "py/3.12/lib/python3.12/os.py", "py/secret", "proj/notes")
    make(tmp_path, f"proj/.venv/bin/python -> {tmp_path}/py/3.12/bin/python3.12")
    (tmp_path / "proj/.venv/pyvenv.cfg").write_text(f"home = {tmp_path}/py/3.12/bin\n")
    expected = ["proj/.venv", "py/3.12"]
    assert shown(tmp_path, "proj/.venv/bin") == expected
    assert shown(tmp_path, VIRTUAL_ENV=str(tmp_path / "proj/.venv"), PATH=f"{tmp_path}/proj/.venv/bin") == expected


def test_a_link_into_a_tools_own_folder_shows_that_tool(tmp_path: Path) -> None:
    make(tmp_path, ".local/share/uv/tools/black/bin/black", ".local/share/uv/tools/black/lib/x", ".local/share/token")
    make(tmp_path, ".local/bin/black -> ../share/uv/tools/black/bin/black")
    assert shown(tmp_path, ".local/bin") == [".local/bin", ".local/share/uv/tools/black"]


def test_a_link_to_a_single_file_shows_that_file(tmp_path: Path) -> None:
    make(tmp_path, "scripts/tool.sh", "scripts/secret", "bin/tool -> ../scripts/tool.sh")
    assert shown(tmp_path, "bin") == ["bin", "scripts/tool.sh"]


def test_a_link_to_what_is_not_a_program_shows_nothing(tmp_path: Path) -> None:
    make(tmp_path, ".ssh/id_ed25519", "docs/text", "bin/key -> ../.ssh/id_ed25519", "bin/docs -> ../docs")
    assert shown(tmp_path, "bin") == ["bin"]


def test_a_virtual_environment_that_names_a_folder_without_python_does_not_open_it(tmp_path: Path) -> None:
    make(tmp_path, ".ssh/id_ed25519", "proj/.venv/bin/tool")
    (tmp_path / "proj/.venv/pyvenv.cfg").write_text(f"home = {tmp_path}/.ssh\n")
    assert shown(tmp_path, "proj/.venv/bin") == ["proj/.venv"]


def test_links_in_a_writable_folder_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "work/bin/tool -> ../../secret/tool/bin/tool", "secret/tool/bin/tool")
    env = {"HOME": str(tmp_path), "PATH": f"{tmp_path}/work/bin"}
    toolchain = Toolchain(env, ("/usr/bin/env",), writable=(str(tmp_path / "work"),))
    assert [path for path in toolchain.paths if path.startswith(str(tmp_path))] == []


def test_a_folder_reached_through_a_link_is_shown_at_both_places(tmp_path: Path) -> None:
    make(tmp_path, ".sdkman/candidates/java/21/bin/java", ".sdkman/candidates/java/21/lib/x")
    make(tmp_path, ".sdkman/candidates/java/current -> 21")
    assert shown(tmp_path, ".sdkman/candidates/java/current/bin") == [
        ".sdkman/candidates/java/21",
        ".sdkman/candidates/java/current",
    ]


def test_the_bin_folder_of_a_project_does_not_show_the_project(tmp_path: Path) -> None:
    make(tmp_path, "work/proj/.git/config", "work/proj/bin/tool", "work/proj/.env")
    make(tmp_path, "work/other/.interlock/journal.db", "work/other/bin/tool")
    assert shown(tmp_path, "work/proj/bin", "work/other/bin") == ["work/other/bin", "work/proj/bin"]


def test_node_modules_are_shown_by_their_bin(tmp_path: Path) -> None:
    make(tmp_path, "work/proj/.git/x", "work/proj/node_modules/tsc/bin/tsc.sh", "work/proj/.env")
    make(tmp_path, "work/proj/node_modules/.bin/tsc -> ../tsc/bin/tsc.sh")
    assert shown(tmp_path, "work/proj/node_modules/.bin") == ["work/proj/node_modules"]


def test_path_entries_that_hold_home_or_are_nothing_are_left_out(tmp_path: Path) -> None:
    assert shown(tmp_path, "", "no/such/folder", PATH=f"{tmp_path}:{tmp_path.parent}:.::/:/home:relative") == []


def test_links_that_go_in_circles_are_survived(tmp_path: Path) -> None:
    make(tmp_path, "bin/a -> b", "bin/b -> a", "bin/gone -> /no/such/file")
    assert shown(tmp_path, "bin") == ["bin"]


def test_secrets_of_the_system_are_not_shown() -> None:
    paths = Toolchain({}, ("/usr/bin/env",)).paths
    assert "/usr" in paths and "/etc/passwd" in paths
    assert not {"/etc", "/etc/shadow", "/etc/ssh", "/etc/resolv.conf", "/var", "/run", "/"} & set(paths)
    assert ("/etc/resolv.conf" in Toolchain({}, ("/usr/bin/env",), network=True).paths) == Path(
        "/etc/resolv.conf"
    ).exists()


def test_the_parent_of_a_folder_in_path_stays_hidden(tmp_path: Path) -> None:
    make(tmp_path, "a/b/work/bin/tool", "a/b/work/secret", "a/b/work/data/x", "a/b/plain/tool.sh", "a/b/secret")
    assert shown(tmp_path, "a/b/work/bin", "a/b/plain") == ["a/b/plain", "a/b/work/bin"]


def test_the_same_holds_outside_of_the_home(tmp_path: Path) -> None:
    make(tmp_path, "tools/bin/tool", "tools/secret", "home/x")
    env = {"HOME": str(tmp_path / "home"), "PATH": f"{tmp_path}/tools/bin:/usr/bin"}
    paths = Toolchain(env, ("/usr/bin/env",)).paths
    assert [path for path in paths if path.startswith(str(tmp_path))] == [f"{tmp_path}/tools/bin"]


def test_libraries_beside_a_bin_come_along_but_nothing_else(tmp_path: Path) -> None:
    make(tmp_path, "a/b/bin/tool", "a/b/lib/x", "a/b/secret")
    assert shown(tmp_path, "a/b/bin") == ["a/b/bin", "a/b/lib"]
    make(tmp_path, "a/c/bin/tool", "a/c/lib/x", "a/c/.git/config")  # the source of a project
    assert shown(tmp_path, "a/c/bin") == ["a/c/bin"]


def test_an_environment_in_the_top_folder_of_a_project_does_not_show_the_project(tmp_path: Path) -> None:
    make(
        tmp_path, "w/p/pyvenv.cfg", "w/p/bin/python", "w/p/lib/x", "w/p/.env", "w/p/src/x", "w/p/.interlock/journal.db"
    )
    expected = ["w/p/bin", "w/p/lib", "w/p/pyvenv.cfg"]
    assert shown(tmp_path, "w/p/bin") == expected
    assert shown(tmp_path, VIRTUAL_ENV=str(tmp_path / "w/p"), PATH=f"{tmp_path}/w/p/bin") == expected


def test_the_marks_of_a_tool_do_not_show_a_project(tmp_path: Path) -> None:
    for name in ("release", "conf/x", "legal/x", "lib/x", "bin/tool"):
        make(tmp_path, f"w/java/{name}", f"w/project/{name}")
    make(tmp_path, "w/project/.git/config", "w/project/.env")
    assert shown(tmp_path, "w/java/bin", "w/project/bin") == ["w/java", "w/project/bin"]


def test_a_project_in_path_shows_its_programs_alone(tmp_path: Path) -> None:
    make(tmp_path, "w/p/.git/config", "w/p/.env", "w/p/tool.sh", "w/p/notes", "w/p/src/x.sh")
    make(tmp_path, "w/all/one/.interlock/journal.db", "w/all/tool.sh", "w/all/one/secret")
    assert shown(tmp_path, "w/p", "w/all") == ["w/all/tool.sh", "w/p/tool.sh"]


def test_folders_with_keys_are_never_shown(tmp_path: Path) -> None:
    make(tmp_path, ".ssh/tool.sh", ".aws/bin/tool", ".config/app/token", ".local/share/keyrings/x", "p/.interlock/x.sh")
    assert shown(tmp_path, ".ssh", ".aws/bin", ".config", ".local", ".local/share", "p/.interlock") == []
    make(tmp_path, "keys -> .ssh", ".config/composer/vendor/bin/tool")
    assert shown(tmp_path, "keys", ".config/composer/vendor/bin") == [".config/composer/vendor/bin"]


def test_mavens_own_files_are_shown_and_not_its_settings_which_may_have_passwords() -> None:
    paths = Toolchain({"HOME": "/nowhere", "PATH": "/usr/bin"}, ()).paths
    expected = [path for path in ("/etc/maven/logging", "/etc/maven/m2.conf") if Path(path).exists()]
    assert [path for path in paths if path.startswith("/etc/maven")] == expected
