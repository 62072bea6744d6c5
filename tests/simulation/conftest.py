"""Fixtures of simulations: the running program, and a reset desk before each simulation."""

from collections.abc import Iterator
from contextlib import suppress
from subprocess import Popen

import pytest

from interlock.client import ApiError, ApiHookClient
from tests.simulation.live import COMMANDS, Live

PROVIDER, MODEL = "gemini", "gemini-2.5-flash-lite"


@pytest.fixture(scope="session", params=COMMANDS)
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """One program for the whole test session; the same client finds it in every simulation."""
    folder = tmp_path_factory.mktemp(f"live-{request.param}")
    program = Live(folder, request.param, logs=folder)
    try:
        program.start()
    except RuntimeError as error:
        pytest.fail(str(error))
    try:
        yield program
    finally:
        with suppress(ApiError):
            ApiHookClient(program.api_file).reset_session()
        program.kill()


@pytest.fixture(scope="session")
def live_gui(live: Live) -> tuple["Popen[bytes]", str]:
    """The process, and the name of its program."""
    return live.process, live.script


@pytest.fixture
def client(live: Live) -> ApiHookClient:
    return ApiHookClient(live.api_file, timeout_s=30)


@pytest.fixture(autouse=True)
def clean_desk(request: pytest.FixtureRequest) -> None:
    """Resets session, provider and model before each test that uses the running program."""
    if "live" in request.fixturenames:
        clean(request.getfixturevalue("client"))


def clean(client: ApiHookClient) -> None:
    client.reset_session()
    client.set_value("current_provider", PROVIDER)
    client.set_value("current_model", MODEL)
