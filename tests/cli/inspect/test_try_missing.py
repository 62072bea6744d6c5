"""A failed trial names what the machine lacks."""

from tests.cli.project import Project


def test_a_version_that_the_machine_lacks_is_the_first_reason_of_a_failure(project: Project) -> None:
    project.write("rust-toolchain", "1.1.1\n")
    project.write("Cargo.toml", '[package]\nname = "two"\nversion = "1.0.0"\n')
    project.write("interlock.toml", '[workspace]\ntests = "exit 1"\n')
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "more")
    assert project.run("trust", "--yes").code == 0
    result = project.run("try", "--json")
    assert result.code == 3, result
    assert result.json["reasons"][0]["what"].startswith("missing: Rust")
