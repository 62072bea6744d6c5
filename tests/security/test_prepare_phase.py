"""The prepare phase has network, so it sees nothing of the user's, and leaves nothing where the user would run it."""

import json
import os
from pathlib import Path

import pytest

from interlock.environments.sources import package_sources
from interlock.sandbox.levels import landlock
from tests.cli.project import Project
from tests.sandbox.sandbox_levels import CONFINED

SECRETS = (".ssh/id_ed25519", ".aws/credentials", ".netrc", ".npmrc", ".config/gh/hosts.yml", ".bash_history", ".env")

# Each attempt prints the content of a secret, or fails.
READS = (
    *(f'cat "$REAL_HOME/{name}"' for name in SECRETS),
    *(f'cat ~/"{name}"' for name in SECRETS),
    'cat "$PROJECT/.interlock/identity"',
    'cat "$PROJECT/not-in-git.txt"',
    'cat "$STATE"/interlock/approve/*',
    'ls "$STATE/interlock"/secrets',
    "env | grep -i -e token -e secret -e _key",
    "cat /proc/1/environ /proc/$PPID/environ | tr '\\0' '\\n' | grep TOKEN",
)
# Each attempt leaves something that the user's shell, editor or git would run.
WRITES = (
    'echo evil >> "$REAL_HOME/.bashrc"',
    'mkdir -p "$REAL_HOME/.local/bin" && echo evil > "$REAL_HOME/.local/bin/ls"',
    'echo evil > "$PROJECT/node_modules/x"',
    'echo evil > "$PROJECT/.git/hooks/pre-commit"',
    "echo evil > .git/hooks/pre-commit",
    'echo evil > "$PROJECT/conftest.py"',
    'echo evil > "$STATE/interlock/rules/x.toml"',
    "echo evil > /etc/profile.d/x.sh",
    "echo evil > /usr/local/bin/x",
    "git config core.fsmonitor evil",
    "(setsid sh -c 'while :; do echo evil >> \"$REAL_HOME/late\"; done' &)",
)


def everything(folder: Path, *, without: str = "interlock") -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and without not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(params=CONFINED)
def hostile(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    if request.param == "landlock" and (reason := landlock.missing()):
        pytest.skip(reason)
    project = Project(tmp_path)
    settings = Path(project.env["XDG_CONFIG_HOME"], "interlock", "config.toml")
    settings.parent.mkdir(parents=True)
    settings.write_text(f'sandbox = "{request.param}"\n')
    for name in SECRETS:
        path = project.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("SECRET-OF-ANN\n")
    project.write("not-in-git.txt", "SECRET-OF-ANN\n")
    (project.home / ".bashrc").write_text("# mine\n")
    project.env |= {"MY_TOKEN": "SECRET-OF-ANN", "AWS_SECRET_ACCESS_KEY": "SECRET-OF-ANN", "NPM_TOKEN": "SECRET-OF-ANN"}
    return project


def prepared_by(project: Project, script: str) -> str:
    """Runs the script as the prepare phase of a trusted project; returns what it wrote."""
    places = {"REAL_HOME": project.home, "PROJECT": project.root, "STATE": project.env["XDG_STATE_HOME"]}
    project.write("prepare.sh", "".join(f"export {name}='{place}'\n" for name, place in places.items()) + script)
    project.write("interlock.toml", '[workspace]\nprepare = ["sh prepare.sh > out.txt 2>&1; true"]\n')
    project.git("add", "prepare.sh", "interlock.toml")
    project.git("commit", "-q", "-m", "hostile")
    assert project.run("trust", "--yes").code == 0
    result = project.run("prepare", "--yes", "--json")
    assert result.code == 0, result
    store = Path(project.env["XDG_STATE_HOME"], "interlock", "environments", result.json["key"], "files")
    return (store / "out.txt").read_text()


def test_the_prepare_phase_reads_no_secret(hostile: Project) -> None:
    said = prepared_by(hostile, "".join(f"{{ {attempt}; }} 2>&1\necho done {n}\n" for n, attempt in enumerate(READS)))
    assert "SECRET-OF-ANN" not in said
    assert said.count("done ") == len(READS)


def test_the_prepare_phase_leaves_nothing_that_the_user_would_run(hostile: Project) -> None:
    hostile.write("interlock.toml", "")
    before = everything(hostile.home), everything(hostile.root / ".git" / "hooks")
    said = prepared_by(hostile, "".join(f"( {attempt} )\necho done {n}\n" for n, attempt in enumerate(WRITES)))
    assert said.count("done ") == len(WRITES)
    assert (everything(hostile.home), everything(hostile.root / ".git" / "hooks")) == before
    assert sorted(os.listdir(hostile.root)) == [
        ".git", ".interlock", "a.txt", "interlock.toml", "not-in-git.txt", "prepare.sh"
    ]  # fmt: skip
    assert "evil" not in (hostile.root / ".git" / "config").read_text()


def test_what_the_prepare_phase_made_does_not_replace_a_file_of_the_project(hostile: Project) -> None:
    prepared_by(hostile, "echo evil > a.txt\n")
    assert hostile.run("try", "grep -q two a.txt && ! grep -q evil a.txt").code == 0


def test_a_link_that_the_prepare_phase_made_leads_to_nothing_of_the_users(hostile: Project) -> None:
    prepared_by(hostile, 'mkdir node_modules && ln -s "$REAL_HOME/.ssh" node_modules/keys && ln -s "$REAL_HOME" home\n')
    tried = hostile.run("try", "cat node_modules/keys/id_ed25519 home/.netrc; echo more > home/late", "--json")
    assert "SECRET-OF-ANN" not in json.dumps(tried.json)
    assert not (hostile.home / "late").exists()


def test_addresses_of_mirrors_are_passed_on_and_passwords_are_not(tmp_path: Path) -> None:
    env = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "UV_INDEX_URL": "https://mirror.example/simple",
        "HTTPS_PROXY": "http://ann:secret@proxy.example",
        "GOPROXY": "https://go.example?token=secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    passed = package_sources(env)
    assert passed["UV_INDEX_URL"] == "https://mirror.example/simple"
    assert not any("secret" in value for value in passed.values())
