"""The eight stages, from an epic to a worker's text."""

from pathlib import Path
from subprocess import Popen

import pytest

from interlock.client import ApiHookClient
from tests.simulation.conftest import clean
from tests.simulation.live import COMMANDS, Live
from tests.simulation.stages import Stages
from tests.simulation.verification_logger import VerificationLogger

MOST_S = 20
ROUNDS = 20


def all_stages(client: ApiHookClient, base: Path, name: str) -> Stages:
    log = VerificationLogger(f"eight stages, {name}", f"eight_stages_{name}", base)
    stages = Stages(client, log)
    try:
        stages.run()
    except BaseException as error:
        log.finalize("all eight stages", "FAIL", f"{type(error).__name__}: {error}")
        raise
    log.finalize("all eight stages", "PASS", f"{stages.took:.2f} s")
    assert stages.took < MOST_S
    return stages


def test_all_eight_stages_by_the_client_alone(
    live: Live, live_gui: tuple["Popen[bytes]", str], client: ApiHookClient, tmp_path: Path
) -> None:
    all_stages(client, tmp_path, live_gui[1])
    assert live_gui[0].poll() is None


def test_a_second_time_with_names_that_are_taken(live: Live, client: ApiHookClient, tmp_path: Path) -> None:
    first = all_stages(client, tmp_path, "first")
    clean(client)
    assert client.get_mma_status()["mma_streams"] == {}
    second = all_stages(client, tmp_path, "second")
    assert first.track != second.track


@pytest.mark.parametrize("name", COMMANDS)
def test_also_in_a_folder_that_is_no_repository(name: str, tmp_path: Path) -> None:
    once(tmp_path, name, git=False)


def once(folder: Path, name: str, *, git: bool) -> Stages:
    """A separate program for one round, which must end cleanly."""
    live = Live(folder / name, name, git=git, logs=folder)
    live.start()
    try:
        stages = all_stages(ApiHookClient(live.api_file, timeout_s=30), folder, name)
    finally:
        live.kill()
    assert live.process.returncode == 0, live.output.read_text()
    assert not live.api_file.exists()
    return stages


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", COMMANDS)
def test_twenty_times_in_a_row_each_on_a_fresh_project(name: str, tmp_path: Path) -> None:
    took = [once(tmp_path / str(number), name, git=True).took for number in range(ROUNDS)]
    print(f"[TIME] {ROUNDS} fresh projects: {min(took):.2f} to {max(took):.2f} s")


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_twenty_times_in_a_row_on_the_same_running_program(live: Live, client: ApiHookClient, tmp_path: Path) -> None:
    took: list[float] = []
    tracks: set[str] = set()
    for number in range(ROUNDS):
        clean(client)
        stages = all_stages(client, tmp_path / str(number), live.script)
        took.append(stages.took)
        tracks.add(stages.track)
    assert len(tracks) == ROUNDS
    print(f"[TIME] {ROUNDS} rounds on one program: {min(took):.2f} to {max(took):.2f} s")
