"""Package managers get the user's mirrors and certificates, and never the user's passwords."""

from pathlib import Path

import pytest

from interlock.environments.sources import local_sources, package_sources


def test_variables_of_package_managers_are_passed_on_and_no_others() -> None:
    env = {"PIP_INDEX_URL": "https://mirror.test/simple", "AWS_SECRET_ACCESS_KEY": "x", "PIP_CONFIG_FILE": "/x"}
    found = package_sources(env)
    assert found["PIP_INDEX_URL"] == "https://mirror.test/simple"
    assert not {"AWS_SECRET_ACCESS_KEY", "PIP_CONFIG_FILE"} & found.keys()


@pytest.mark.parametrize(
    "address",
    ["https://ann:pw@mirror.test/simple", "https://token@mirror.test/x", "https://mirror.test/x?token=abc"],
)
def test_an_address_with_a_password_is_left_out(address: str, tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text(f"registry={address}\n//mirror.test/:_authToken=abc\n")
    (tmp_path / ".config" / "pip").mkdir(parents=True)
    (tmp_path / ".config" / "pip" / "pip.conf").write_text(f"[global]\nindex-url = {address}\ntimeout = 60\n")
    found = package_sources({"HOME": str(tmp_path), "HTTPS_PROXY": address})
    assert "abc" not in str(found) and "pw" not in str(found) and "token@" not in str(found)
    assert found["PIP_DEFAULT_TIMEOUT"] == "60"


def test_mirrors_of_configuration_files_count_unless_a_variable_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text('registry = "https://npm.test/"\nfund=false\n')
    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip" / "pip.conf").write_text("[global]\nextra-index-url =\n  https://a.test\n  https://b.test\n")
    found = package_sources({"HOME": str(tmp_path), "PIP_EXTRA_INDEX_URL": "https://c.test"})
    assert (found["npm_config_registry"], found["PIP_EXTRA_INDEX_URL"]) == ("https://npm.test/", "https://c.test")


def test_a_broken_configuration_file_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip" / "pip.conf").write_text("no section\n")
    assert "PIP_INDEX_URL" not in package_sources({"HOME": str(tmp_path)})


def test_files_that_the_sources_name_are_made_visible(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    sources = {"PIP_FIND_LINKS": f"{wheels} /gone", "PIP_INDEX_URL": f"file://{wheels}", "GOPROXY": "https://x,direct"}
    assert local_sources(sources) == (str(wheels),)
