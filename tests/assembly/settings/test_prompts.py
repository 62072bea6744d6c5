"""Own system prompts: texts and files, trusted by their content."""

from pathlib import Path

import pytest

from interlock.assembly.settings.load import load_settings, started_by
from interlock.assembly.settings.settings import PromptSettings
from interlock.errors import Misconfigured


class Files:
    def __init__(self, folder: Path) -> None:
        self.user, self.project = folder / "user", folder / "project"
        self.user.mkdir()
        self.project.mkdir()

    def write(self, user: str = "", project: str = "") -> None:
        (self.user / "config.toml").write_text(user)
        (self.project / "interlock.toml").write_text(project)

    def prompts(self) -> PromptSettings:
        return load_settings(self.user / "config.toml", self.project / "interlock.toml").prompts

    def refused(self) -> str:
        with pytest.raises(Misconfigured) as error:
            self.prompts()
        return str(error.value)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_value_is_a_text_or_names_a_file_beside_the_settings(files: Files) -> None:
    (files.user / "worker.md").write_text("Be brief.\n")
    files.write(user='[prompts]\ntier3 = "worker.md"\ndiscussion = "Answer in French."\nmode = "replace"\n')
    assert files.prompts() == PromptSettings(tier3="Be brief.\n", discussion="Answer in French.", mode="replace")
    files.write(user=f'[prompts]\ntier1 = "{files.user / "worker.md"}"\ntier2 = """see notes.md\nand more.md"""\n')
    assert (files.prompts().tier1, files.prompts().tier2) == ("Be brief.\n", "see notes.md\nand more.md")


def test_a_projects_prompt_is_trusted_by_its_text_so_a_changed_file_asks_again(files: Files) -> None:
    files.write(project='[prompts]\ntier3 = "docs/worker.md"\n')
    (files.project / "docs").mkdir()
    digests: list[str] = []
    for text in ("Be brief.", "Be careless."):
        (files.project / "docs" / "worker.md").write_text(text)
        asked = load_settings(files.user / "config.toml", files.project / "interlock.toml")
        own = load_settings(files.user / "config.toml", Path("/dev/null"))
        (start,) = started_by(asked, own)
        assert (start.key, start.text) == ("prompts.tier3", text)
        digests.append(start.digest)
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    "name", ["../user/secret.md", "/etc/passwd.md", "link.md", "folder/secret.md", "./a.md", "no.md"]
)
def test_a_project_names_only_its_own_plain_files(files: Files, name: str) -> None:
    (files.user / "secret.md").write_text("secret")
    (files.project / "link.md").symlink_to(files.user / "secret.md")
    (files.project / "folder").symlink_to(files.user)
    files.write(project=f'[prompts]\ntier3 = "{name}"\n')
    assert files.refused().startswith(f"interlock.toml:2: prompts.tier3: {name} cannot be read: ")


def test_what_cannot_be_a_prompt_names_its_line(files: Files) -> None:
    (files.user / "odd.md").write_bytes(b"\xff\xfe\x00")
    files.write(user='[prompts]\n\ntier1 = "odd.md"\n')
    assert files.refused() == f"{files.user}/config.toml:3: prompts.tier1: odd.md is not UTF-8 text"
    files.write(user=f'[prompts]\ntier1 = "{"x" * 50_001}"\n')
    assert "a prompt has at most 50,000 characters, this one 50,001" in files.refused()
    (files.user / "long.md").write_text("x" * 300_000)
    files.write(user='[prompts]\ntier1 = "long.md"\n')
    assert "long.md cannot be read" in files.refused()
    files.write(user="[prompts]\ntier1 = 3\n")
    assert "prompts.tier1 must be a text, or the name of a file" in files.refused()
    files.write(user='[prompts]\nmode = "add"\n')
    assert "prompts.mode must be 'append' or 'replace'" in files.refused()
