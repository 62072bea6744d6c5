"""Tools for development are recognised by their files, and no command comes from them."""

from pathlib import Path

from interlock.detection.found import proposal_of
from tests.detection.machines import Sample


def test_helpers_are_named_with_their_files_and_propose_nothing(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    names = (
        *(".pre-commit-config.yaml", "justfile", ".devcontainer.json", ".tool-versions", "mise.toml", ".nvmrc"),
        *("rust-toolchain.toml", "Pipfile", "environment.yml", "requirements-dev.lock"),
    )
    sample.write(dict.fromkeys(names, ""))
    found = sample.detect()
    assert found.helpers == (
        "pre-commit (.pre-commit-config.yaml)",
        "just (justfile)",
        "devcontainer (.devcontainer.json)",
        "asdf (.tool-versions)",
        "mise (mise.toml)",
        "nvm (.nvmrc)",
        "rustup (rust-toolchain.toml)",
        "pipenv (Pipfile)",
        "conda (environment.yml)",
        "rye (requirements-dev.lock)",
    )
    assert (found.parts, proposal_of(found).tests) == ((), "")
