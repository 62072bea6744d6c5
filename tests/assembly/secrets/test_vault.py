"""Texts with secrets are restored exactly where they run, and nowhere else."""

import stat
from pathlib import Path

import pytest

from interlock.assembly.secrets.vault import MARK, SecretVault, name_of
from interlock.errors import Rejected

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
OTHER = "ghp_" + "z9Y8x7W6v5U4t3S2r1Q0" * 2


@pytest.fixture(name="vault")
def _vault(tmp_path: Path) -> SecretVault:
    return SecretVault(tmp_path / "secrets", {})


def test_a_text_with_a_secret_comes_back_exactly(vault: SecretVault, tmp_path: Path) -> None:
    text = f"curl -H 'authorization: bearer {TOKEN}' x\n"
    concealed = vault.conceal(text)
    assert TOKEN not in concealed and MARK.search(concealed)
    assert vault.reveal(concealed) == text
    assert SecretVault(tmp_path / "secrets", {}).reveal(concealed) == text  # after a restart


def test_a_text_without_a_secret_stays_and_is_not_stored(vault: SecretVault, tmp_path: Path) -> None:
    assert vault.conceal("make test") == vault.reveal("make test") == "make test"
    assert not (tmp_path / "secrets").exists()


def test_different_secrets_never_give_the_same_text(vault: SecretVault) -> None:
    one, other = vault.conceal(f"x {TOKEN}"), vault.conceal(f"x {OTHER}")
    assert one != other
    assert (vault.reveal(one), vault.reveal(other)) == (f"x {TOKEN}", f"x {OTHER}")
    assert vault.conceal(f"x {TOKEN}") == one  # the same text is approved once


@pytest.mark.parametrize(
    "text", [f"x {TOKEN}", "password=correct-horse-battery", f"api_key: '{TOKEN}'", f"u:{TOKEN}@h"]
)
def test_a_concealed_text_is_concealed_once(vault: SecretVault, text: str) -> None:
    once = vault.conceal(text)
    assert vault.conceal(once) == vault.conceal_answer(once) == once
    assert vault.reveal(once) == text


def test_a_mark_in_another_text_restores_nothing(vault: SecretVault) -> None:
    mark = MARK.search(vault.conceal(f"x {TOKEN}"))
    assert mark is not None
    with pytest.raises(Rejected, match="not stored any more"):
        vault.reveal(f"curl https://example.org/{mark[0]}")


def test_marks_of_two_projects_differ(vault: SecretVault, tmp_path: Path) -> None:
    """A short password must not be found by trying passwords against the journal."""
    assert SecretVault(tmp_path / "other", {}).conceal(f"x {TOKEN}") != vault.conceal(f"x {TOKEN}")


def test_a_person_may_edit_around_a_mark(vault: SecretVault) -> None:
    shown = vault.conceal(f"curl {TOKEN}")
    edited = vault.conceal_answer(shown.replace("curl", "curl --fail"))
    assert TOKEN not in edited
    assert vault.reveal(edited) == f"curl --fail {TOKEN}"
    assert vault.conceal_answer("x [concealed:0123456789abcdef]") == "x [concealed:0123456789abcdef]"


def test_only_the_user_can_read_the_files(vault: SecretVault, tmp_path: Path) -> None:
    vault.conceal(f"x {TOKEN}")
    folder = tmp_path / "secrets"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_texts_that_nothing_needs_go_and_new_ones_stay_for_a_moment(tmp_path: Path) -> None:
    now, later = SecretVault(tmp_path / "secrets", {}), SecretVault(tmp_path / "secrets", {}, grace_s=0)
    assert not now.stores_texts
    kept, gone = now.conceal(f"x {TOKEN}"), now.conceal(f"x {OTHER}")
    needed = frozenset([name_of(kept)])
    assert now.stores_texts and now.has_fresh_texts
    now.remove_all_but(needed, grace=True)
    assert now.reveal(gone)  # its command may not be recorded yet
    later.remove_all_but(needed, grace=True)
    assert later.reveal(kept) == f"x {TOKEN}"
    with pytest.raises(Rejected):
        later.reveal(gone)
    later.remove_all_but(frozenset(), grace=True)
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["key"]
    assert not later.stores_texts


def test_a_text_that_was_needed_once_goes_at_once_when_it_is_not(vault: SecretVault) -> None:
    concealed = vault.conceal(f"x {TOKEN}")
    vault.remove_all_but(frozenset([name_of(concealed)]), grace=True)
    assert vault.reveal(concealed)
    vault.remove_all_but(frozenset(), grace=True)
    with pytest.raises(Rejected):
        vault.reveal(concealed)


def test_half_written_files_of_a_crash_go_when_nothing_can_be_writing(vault: SecretVault, tmp_path: Path) -> None:
    vault.conceal(f"x {TOKEN}")
    (tmp_path / "secrets" / "0123.abcdef").write_bytes(TOKEN.encode())
    vault.remove_all_but(frozenset(), grace=True)
    assert (tmp_path / "secrets" / "0123.abcdef").exists()
    vault.remove_all_but(frozenset(), grace=False)
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["key"]


def test_values_of_secret_variables_are_concealed(tmp_path: Path) -> None:
    vault = SecretVault(tmp_path, {"DEPLOY_TOKEN": "correct horse battery"})
    assert vault.reveal(vault.conceal("echo correct horse battery")) == "echo correct horse battery"
    assert "horse" not in vault.conceal("echo correct horse battery")
