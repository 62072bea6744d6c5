import pytest

from interlock.domain.values.ids import check_id, full_name, is_id, split_name
from interlock.errors import Rejected

GOOD = ["T-001", "a", "0", "A.b_c-d", "x" * 64, "lock", "a.locked"]
HOSTILE = [
    "../x", "..", "a..b", "x.lock", "x.", ".x", "-a", "_a", "", "a b", "a/b", "a\nb", "a\n", "\na", "ä", "１", "x" * 65,
    "a\0b", "~", "refs/heads/x", "a\\b", "a:b", "a*", None, 5, b"a", ["a"],
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_plain_name_is_an_id(name: str) -> None:
    assert is_id(name)
    check_id(name, "ticket")


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_anything_that_could_leave_its_folder_or_break_a_ref_is_no_id(name: object) -> None:
    assert not is_id(name)
    with pytest.raises(Rejected, match="malformed ticket id"):
        check_id(name, "ticket")


def test_a_long_wrong_id_is_shown_short() -> None:
    with pytest.raises(Rejected) as refused:
        check_id("x" * 10_000, "track")
    assert str(refused.value).startswith(f"malformed track id '{'x' * 76}...: letters")


def test_a_full_name_is_the_track_and_the_ticket() -> None:
    assert full_name("a", "T-1") == "a/T-1"
    assert split_name("a/T-1") == ("a", "T-1")
