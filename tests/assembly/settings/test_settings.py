"""Two files make one Settings; an error message names file, line and the most similar key."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.assembly.settings.load import load_settings, started_by, user_settings_file
from interlock.assembly.settings.settings import (
    ConductorSettings,
    Gates,
    JournalSettings,
    LimitSettings,
    SecretFiles,
    Settings,
    WorkspaceSettings,
)
from interlock.errors import Misconfigured

Load = Callable[..., Settings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads settings from the texts of the two files; None means that the file does not exist."""

    def load(project: str | bytes | None = None, user: str | None = None) -> Settings:
        files = {"config.toml": user, "interlock.toml": project}
        for name, text in files.items():
            if text is not None:
                (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_settings(tmp_path / "config.toml", tmp_path / "interlock.toml")

    return load


def test_without_files_everything_has_its_default(load: Load) -> None:
    assert load() == Settings(
        sandbox="auto",
        crew="local",
        tracks_dir="conductor/tracks",
        conductor=ConductorSettings(auto_queue=False, workers=4, escalation=()),
        gates=Gates(
            max_attempts=5, timeout_s=300, stuck_after=3, test_paths=("tests/**", "test_*", "*_test.*", "*.spec.*")
        ),
        workspace=WorkspaceSettings(setup=None, setup_timeout_s=600),
        journal=JournalSettings(checkpoint_every=20_000),
    )


def test_every_key_can_be_set(load: Load) -> None:
    text = """
        sandbox = "bubblewrap"
        crew = "local"
        tracks_dir = "plans"
        conductor = { auto_queue = true, workers = 256, escalation = ["big", "bigger"] }
        gates = { max_attempts = 1, timeout_s = 600, stuck_after = 0, test_paths = [] }
        workspace = { setup = "make deps", setup_timeout_s = 1 }
        journal = { checkpoint_every = 1 }
    """
    assert load(user=text) == Settings(
        sandbox="bubblewrap",
        tracks_dir="plans",
        conductor=ConductorSettings(auto_queue=True, workers=256, escalation=("big", "bigger")),
        gates=Gates(max_attempts=1, timeout_s=600, stuck_after=0, test_paths=()),
        workspace=WorkspaceSettings(setup="make deps", setup_timeout_s=1),
        journal=JournalSettings(checkpoint_every=1),
    )


def test_the_project_counts_over_the_user_key_by_key(load: Load) -> None:
    settings = load(
        project="[conductor]\nworkers = 2",
        user='tracks_dir = "mine"\n[conductor]\nworkers = 8\nauto_queue = true',
    )
    assert settings == Settings(tracks_dir="mine", conductor=ConductorSettings(auto_queue=True, workers=2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[conductor]\n\nworker = 3", "interlock.toml:3: unknown key 'conductor.worker'; did you mean 'workers'?"),
        ("sandbx = 'auto'", "interlock.toml:1: unknown key 'sandbx'; did you mean 'sandbox'?"),
        ("\nworkers = 4", "interlock.toml:2: unknown key 'workers'; did you mean 'conductor.workers'?"),
        ("[conductr]\nworkers = 4", "interlock.toml:1: unknown key 'conductr'; did you mean 'conductor'?"),
        (
            "[workspace]\nzzz = 4",
            (
                "interlock.toml:2: unknown key 'workspace.zzz'; known here: prepare, prepare_timeout_s, setup, "
                "setup_timeout_s, tests, path, services, cache_days, cache_mb"
            ),
        ),
        (
            "# c\nconductor = { workers = 'four' }",
            "interlock.toml:2: conductor.workers must be a whole number from 1 to 256, not 'four'",
        ),
        ("conductor.workers = 0", "interlock.toml:1: conductor.workers must be a whole number from 1 to 256, not 0"),
        (
            "conductor.workers = 2.0",
            "interlock.toml:1: conductor.workers must be a whole number from 1 to 256, not 2.0",
        ),
        (
            "conductor.workers = true",
            "interlock.toml:1: conductor.workers must be a whole number from 1 to 256, not true",
        ),
        (
            '[provider]\nname = "anthropc"',
            (
                "interlock.toml:2: provider.name must be 'anthropic' or 'gemini' or 'openai' or 'deepseek' or"
                " 'openrouter' or 'ollama' or 'llama.cpp' or 'vllm' or 'gemini_cli' or 'scripted', not 'anthropc';"
                " did you mean 'anthropic'?"
            ),
        ),
        ("[conductor]\nauto_queue = 1", "interlock.toml:2: conductor.auto_queue must be true or false, not 1"),
        (
            "sandbox = 'none'",
            "interlock.toml:1: sandbox must be 'auto' or 'bubblewrap' or 'landlock' or 'off', not 'none'",
        ),
        (
            "[sandbox]\nx = 1",
            "interlock.toml:1: sandbox must be 'auto' or 'bubblewrap' or 'landlock' or 'off', not a table",
        ),
        ("crew = 'ray'", "interlock.toml:1: crew must be 'local', not 'ray'"),
        ("gates = 3", "interlock.toml:1: gates must be a table, not 3"),
        ("[[gates]]\ntimeout_s = 3", "interlock.toml:1: gates must be a table, not [a table]"),
        (
            "[gates]\ntest_paths = [\n'a', 1, []]",
            "interlock.toml:2: gates.test_paths must be a list of texts, not ['a', 1, […]]",
        ),
        ("[workspace]\nsetup = 1979-05-27", "interlock.toml:2: workspace.setup must be a text, not 1979-05-27"),
        ("a = 1\nb = \n", "interlock.toml:2: not valid TOML: Invalid value (column 5)"),
        ("a = '''\nb\n", "interlock.toml:2: not valid TOML: Expected \"'''\" (at the end of the file)"),
        (b"a = 1\nb = '\xff'\n", "interlock.toml:2: not UTF-8 text"),
        ("a = " + "[" * 5000 + "]" * 5000, "interlock.toml: nested too deeply"),
        (
            f"crew = '{'x' * 200}'",
            f"interlock.toml:1: crew must be 'local', not '{'x' * 79}…'",
        ),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_correction(load: Load, text: str | bytes, message: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        load(text)
    assert str(refused.value) == message


def test_a_mistake_in_the_user_file_names_its_whole_path(load: Load, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured) as refused:
        load(user="\r\n\r\ncrew = 1\r\n")
    assert str(refused.value) == f"{tmp_path / 'config.toml'}:3: crew must be 'local', not 1"


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured) as refused:
        load_settings(tmp_path / "none.toml", tmp_path)
    assert str(refused.value) == f"{tmp_path.name}: cannot be read: Is a directory"


def test_only_the_user_can_switch_the_sandbox_off(load: Load, tmp_path: Path) -> None:
    assert load(user='sandbox = "off"') == Settings(sandbox="off")
    with pytest.raises(Misconfigured) as refused:
        load(project='\nsandbox = "off"')
    assert str(refused.value) == (
        "interlock.toml:2: a project must not switch the sandbox off; "
        f'to do so, write sandbox = "off" into {tmp_path / "config.toml"}'
    )


def test_only_the_user_names_files_that_hold_secrets(load: Load) -> None:
    own = load(user='[secrets]\nfiles = ["*.private"]\nexceptions = ["test.pem"]')
    assert own.secrets == SecretFiles(("*.private",), ("test.pem",))
    for key in ("files", "exceptions"):
        with pytest.raises(Misconfigured, match="a project must not name the files that hold secrets"):
            load(project=f'[secrets]\n{key} = ["x"]')


@pytest.mark.parametrize(
    ("user", "project", "result"),
    [
        ("off", "auto", "auto"),
        ("off", "bubblewrap", "bubblewrap"),
        ("off", "landlock", "landlock"),
        ("bubblewrap", "auto", "bubblewrap"),
        ("bubblewrap", "landlock", "bubblewrap"),
        ("auto", "landlock", "auto"),
        ("landlock", "auto", "auto"),
    ],
)
def test_a_project_can_tighten_the_sandbox_and_never_loosen_it(
    load: Load, user: str, project: str, result: str
) -> None:
    assert load(f"sandbox = '{project}'", f"sandbox = '{user}'").sandbox == result


@pytest.mark.parametrize(
    ("user", "project", "result"),
    [
        ("", "", LimitSettings(4096, 0, 0)),
        ("processes = 100\nmemory_mb = 10", "", LimitSettings(100, 10, 0)),
        ("processes = 0", "", LimitSettings(0, 0, 0)),
        ("", "processes = 10\nopen_files = 500", LimitSettings(10, 0, 500)),
        ("", "processes = 0", LimitSettings(4096, 0, 0)),
        ("", "processes = 9999", LimitSettings(4096, 0, 0)),
        ("processes = 9999", "processes = 5000", LimitSettings(5000, 0, 0)),
        ("processes = 0", "processes = 5000", LimitSettings(5000, 0, 0)),
        ("memory_mb = 100", "memory_mb = 200", LimitSettings(4096, 100, 0)),
    ],
)
def test_a_project_can_lower_limits_and_never_raise_or_lift_them(
    load: Load, user: str, project: str, result: LimitSettings
) -> None:
    assert load(f"[limits]\n{project}", f"[limits]\n{user}").limits == result


@pytest.mark.parametrize(
    "folder",
    ["", "/etc", "..", "../up", "a/../../b", "a/..", ".git", ".git/x", "./.git", ".interlock", "a\\n/../b", "a\\u0000"],
)
def test_tracks_stay_inside_the_project(load: Load, folder: str) -> None:
    with pytest.raises(Misconfigured, match="tracks_dir must be a folder inside the project"):
        load(f'tracks_dir = "{folder}"')


@pytest.mark.parametrize("folder", ["tracks", "a/b.c", "..a", ".github/tracks", "."])
def test_folders_inside_the_project_are_fine(load: Load, folder: str) -> None:
    assert load(f'tracks_dir = "{folder}"').tracks_dir == folder


def test_the_digest_of_the_setup_command_changes_with_every_byte(load: Load) -> None:
    own = load()
    assert started_by(own, own) == ()
    command = "npm ci && é"
    (start,) = started_by(load(f"workspace.setup = '{command}'"), own)
    assert start.digest == hashlib.sha256(command.encode()).hexdigest()
    (other,) = started_by(load(f"workspace.setup = '{command} '"), own)
    assert other.digest != start.digest


def test_rules_are_a_list_of_tables(load: Load) -> None:
    assert load('[[policy]]\nverdict = "ask"\n') == Settings()
    with pytest.raises(Misconfigured, match=r":1: policy must be a list of tables, each under \[\[policy\]\]"):
        load('[policy]\nverdict = "ask"\n')


def test_the_user_file_follows_xdg() -> None:
    home = Path("/somewhere")
    default = home / ".config/interlock/config.toml"
    assert user_settings_file({}, home) == default
    assert user_settings_file({"XDG_CONFIG_HOME": ""}, home) == default
    assert user_settings_file({"XDG_CONFIG_HOME": "relative"}, home) == default
    assert user_settings_file({"XDG_CONFIG_HOME": "/x"}, home) == Path("/x/interlock/config.toml")
