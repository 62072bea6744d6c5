"""`[workspace.services.NAME]`: what is accepted, what is refused with file and line, and what needs trust."""

from pathlib import Path

import pytest

from interlock.assembly.project import open_project, trust_starts, trusted_workspace
from interlock.assembly.settings.load import load_settings
from interlock.assembly.settings.service_settings import services_of
from interlock.domain.values.runs.services import Service
from interlock.errors import Misconfigured

WEB = '[workspace.services.web]\ncommand = "serve"\nport = 8000\n'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "config" / "interlock").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def services(root: Path, text: str, user: str = "") -> tuple[Service, ...]:
    own = root.parent / "config" / "interlock" / "config.toml"
    own.write_text(user)
    (root / "interlock.toml").write_text(text)
    return services_of(load_settings(own, root / "interlock.toml").workspace.services)


def test_every_key_of_a_service_is_read_and_the_order_of_the_file_stays(root: Path) -> None:
    text = f"""
    [workspace.services.my-db]
    command = "postgres"
    ready = "pg_isready"
    port = 5432
    ready_timeout_s = 60
    env = {{ PGUSER = "ann" }}
    {WEB}
    """
    db = Service(
        name="my-db", command="postgres", ready="pg_isready", port=5432, ready_timeout_s=60, env=(("PGUSER", "ann"),)
    )
    assert services(root, text) == (db, Service(name="web", command="serve", port=8000))
    assert db.variables == ("MY_DB_HOST", "MY_DB_PORT", "MY_DB_DATA")


def test_services_of_both_files_count(root: Path) -> None:
    mine = '[workspace.services.db]\ncommand = "mine"\nready = "true"\n'
    assert [service.name for service in services(root, WEB, mine)] == ["db", "web"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[workspace]\nservices = 3", "interlock.toml:2: workspace.services must be a table, not 3"),
        (
            "[workspace.services]\nweb = 'serve'",
            "interlock.toml:2: workspace.services.web must be a table, not 'serve'",
        ),
        (
            "[workspace.services.web]\nport = 8000",
            "interlock.toml:1: workspace.services.web needs command: a text that is not empty",
        ),
        (
            WEB.replace("serve", "  "),
            "interlock.toml:2: workspace.services.web.command must be a text that is not empty, not '  '",
        ),
        (
            WEB.replace("8000", "'8000'"),
            "interlock.toml:3: workspace.services.web.port must be a whole number from 1024 to 65535, or 0, not '8000'",
        ),
        (
            WEB.replace("8000", "80"),
            (
                "interlock.toml:3: workspace.services.web.port must be 1024 or more: a command in the sandbox cannot"
                " use 80"
            ),
        ),
        (
            WEB.replace("port = 8000", ""),
            "interlock.toml:1: workspace.services.web needs a port or a ready check, which tell that it runs",
        ),
        (f"{WEB}redy = 'x'", "interlock.toml:4: unknown key 'workspace.services.web.redy'; did you mean 'ready'?"),
        (
            f"{WEB}env = {{ A = 1 }}",
            'interlock.toml:4: workspace.services.web.env must be a table of texts such as { LANG = "C" }, not a table',
        ),
        (
            f"{WEB}env = {{ 'A; id' = 'x' }}",
            "interlock.toml:4: workspace.services.web.env: 'A; id' cannot be the name of a variable",
        ),
        (
            f"{WEB}[workspace.services.other]\ncommand = 'x'\nport = 8000",
            "interlock.toml:4: the services web and other have the same port 8000",
        ),
        (
            f"{WEB.replace('web', 'a-b')}{WEB.replace('web', 'a_b').replace('8000', '8001')}",
            "interlock.toml:4: the services a-b and a_b would have the same variables A_B_…",
        ),
        *(
            (
                WEB.replace("services.web", f'services."{name}"'),
                (
                    f"interlock.toml:1: the name {name!r} of a service must begin with a letter a-z and hold at most 32"
                    " of a-z 0-9 _ -"
                ),
            )
            for name in ("", "Web", "../up", "a b", "1st", "a" * 33, "x\u0301")
        ),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_correction(root: Path, text: str, message: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        services(root, text)
    assert str(refused.value) == message


def test_services_of_a_project_start_only_after_exactly_they_were_trusted(root: Path) -> None:
    (root / "interlock.toml").write_text(WEB)
    with pytest.raises(Misconfigured, match="started beside each script and gate"):
        trusted_workspace(open_project(root))
    trust_starts(open_project(root), {"workspace.services"})
    assert services_of(trusted_workspace(open_project(root)).services) == services(root, WEB)
    (root / "interlock.toml").write_text(WEB.replace("serve", "serve --all"))
    with pytest.raises(Misconfigured, match="serve --all"):
        trusted_workspace(open_project(root))


def test_a_service_is_shown_with_a_digest_of_all_its_settings() -> None:
    db = Service(name="db", command="run 'hidden'", ready="ask", port=5432, env=(("KEY", "hidden"),))
    shown = db.shown(lambda text: text.replace("hidden", "[…]"))
    assert shown.startswith("db: run '[…]'; port 5432; ready when: ask; with KEY; digest ")
    others = (
        Service(name="db", command="run 'hidden'", ready="ask", port=5432, env=(("KEY", "other"),)),
        Service(
            name="db", command="run 'hidden'", ready="ask", port=5432, env=(("KEY", "hidden"),), ready_timeout_s=31
        ),
    )
    assert len({shown, *(other.shown(lambda text: text.replace("hidden", "[…]")) for other in others)}) == 3
