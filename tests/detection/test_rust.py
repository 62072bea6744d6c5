"""Rust projects: packages, workspaces, vendored packages and toolchains of rustup."""

from pathlib import Path

from interlock.detection.found import Missing, Part
from tests.detection.machines import PROGRAMS, Sample, found

PACKAGE = '[package]\nname = "two"\nversion = "1.0.0"\n'
LIBRARY = {"Cargo.toml": PACKAGE, "src/lib.rs": ""}


def test_a_package_without_dependencies_needs_no_installation(tmp_path: Path) -> None:
    assert found(tmp_path, LIBRARY) == Part(
        name="Rust",
        evidence=("Cargo.toml", "no Cargo.lock"),
        tests="cargo test --offline",
        tests_from="Cargo.toml",
        sources=1,
    )


def test_packages_of_a_lock_file_are_fetched_as_it_says(tmp_path: Path) -> None:
    part = found(tmp_path, {"Cargo.toml": f'{PACKAGE}[dependencies]\nserde = "1"\n', "Cargo.lock": ""})
    assert (part.prepare, part.evidence) == (("cargo fetch --locked",), ("Cargo.toml", "Cargo.lock"))


def test_a_root_package_with_a_workspace_tests_all_members(tmp_path: Path) -> None:
    part = found(tmp_path, {"Cargo.toml": f'{PACKAGE}[workspace]\nmembers = ["a"]\n'})
    assert part.tests == "cargo test --workspace --offline"
    assert part.evidence == ("Cargo.toml", "no Cargo.lock", "a workspace of several packages")


def test_vendored_packages_are_not_fetched(tmp_path: Path) -> None:
    config = '[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "vendor"\n'
    files = {
        "Cargo.toml": f'{PACKAGE}[dependencies]\nserde = "1"\n',
        ".cargo/config.toml": config,
        "vendor/serde/Cargo.toml": "",
    }
    part = found(tmp_path, files)
    assert (part.prepare, part.evidence[2]) == ((), "packages in vendor")


def test_a_configuration_that_names_a_missing_folder_is_no_vendoring(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": f'{PACKAGE}[dependencies]\nserde = "1"\n',
        ".cargo/config.toml": '[source.here]\ndirectory = "vendor"\n',
    }
    assert found(tmp_path, files).prepare == ("cargo fetch",)


def test_the_default_toolchain_of_rustup_is_used_by_its_real_path(tmp_path: Path) -> None:
    sample = _rustup(tmp_path, "stable-x86_64-unknown-linux-gnu", "nightly-x86_64-unknown-linux-gnu")
    (sample.home / ".rustup" / "settings.toml").write_text('default_toolchain = "stable-x86_64-unknown-linux-gnu"\n')
    sample.write(LIBRARY)
    folder = sample.home / ".rustup/toolchains/stable-x86_64-unknown-linux-gnu"
    assert sample.part().programs == (str(folder / "bin/cargo"),)


def test_the_toolchain_that_the_project_names_comes_before_the_default(tmp_path: Path) -> None:
    sample = _rustup(tmp_path, "stable-x86_64-unknown-linux-gnu", "1.70.0-x86_64-unknown-linux-gnu")
    sample.write({**LIBRARY, "rust-toolchain.toml": '[toolchain]\nchannel = "1.70.0"\n'})
    part = sample.part()
    assert part.programs == (str(sample.home / ".rustup/toolchains/1.70.0-x86_64-unknown-linux-gnu/bin/cargo"),)
    assert (part.evidence[-1], part.missing) == ("Rust 1.70.0, by rust-toolchain.toml", ())


def test_a_toolchain_that_is_not_installed_is_missing_and_no_other_is_used(tmp_path: Path) -> None:
    sample = _rustup(tmp_path, "stable-x86_64-unknown-linux-gnu")
    sample.write({**LIBRARY, "rust-toolchain": "1.70\n"})
    part = sample.part()
    assert part.missing == (Missing("Rust 1.70, which rust-toolchain names", "rustup toolchain install 1.70"),)
    assert part.programs == ()


def test_a_version_for_asdf_counts(tmp_path: Path) -> None:
    sample = _rustup(tmp_path, "stable-x86_64-unknown-linux-gnu")
    sample.write({**LIBRARY, ".tool-versions": "nodejs 20.1.0\nrust 1.71.1\n"})
    assert [one.what for one in sample.part().missing] == ["Rust 1.71.1, which .tool-versions names"]


def test_a_machine_without_cargo_is_told_how_to_get_it(tmp_path: Path) -> None:
    part = found(tmp_path, LIBRARY, "sh")
    assert part.missing == (Missing("Rust", "install Rust by rustup, or on Debian: apt-get install cargo"),)


def _rustup(place: Path, *toolchains: str) -> Sample:
    sample = Sample(place)
    sample.install(*PROGRAMS, "rustup")
    for name in toolchains:
        sample.program(sample.home / ".rustup" / "toolchains" / name / "bin" / "cargo")
    return sample
