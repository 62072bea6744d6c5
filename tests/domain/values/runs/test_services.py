"""What a service tells a person, and the variables that commands get."""

from msgspec.structs import replace

from interlock.domain.values.runs.services import Service

DB = Service(
    name="my-db", command="exec postgres", ready="pg_isready", port=5432, env=(("PGUSER", "o'neil"), ("LANG", "C"))
)
PLAIN = Service(name="queue", command="run-queue", ready="test -S queue.sock")


def test_commands_get_host_and_port_only_of_a_service_with_a_port() -> None:
    assert DB.variables == ("MY_DB_HOST", "MY_DB_PORT", "MY_DB_DATA")
    assert PLAIN.variables == ("QUEUE_DATA",)


def test_the_service_gets_its_own_variables_quoted() -> None:
    assert DB.script(DB.command) == "export PGUSER='o'\"'\"'neil'\nexport LANG=C\nexec postgres"
    assert PLAIN.script("") == ""


def test_a_person_sees_everything_that_decides_what_runs() -> None:
    shown = DB.shown(str)
    assert shown.startswith("my-db: exec postgres; port 5432; ready when: pg_isready; with PGUSER LANG; digest ")
    assert PLAIN.shown(str).startswith("queue: run-queue; ready when: test -S queue.sock; digest ")
    assert "***" in DB.shown(lambda text: text.replace("postgres", "***"))


def test_the_digest_covers_what_is_not_shown() -> None:
    other = replace(DB, env=(("PGUSER", "ann"), ("LANG", "C")))
    assert DB.shown(str) != other.shown(str)
    assert DB.shown(str).rpartition("digest ")[0] == other.shown(str).rpartition("digest ")[0]
