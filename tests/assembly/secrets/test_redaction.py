"""No secret is stored: neither values of the user's variables nor texts in the form of a secret."""

import pytest

from interlock.assembly.secrets.redaction import redacted_bytes, redactor

ENVIRON = {
    "SHOP_API_KEY": "correct-horse-battery",
    "DB_PASSWORD": "hunter2hunter2",
    "SHORT_TOKEN": "abc",
    "PATH": "/usr/bin",
}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key is correct-horse-battery.", "key is [redacted]."),
        ("hunter2hunter2", "[redacted]"),
        ("abc is too short to be a secret", "abc is too short to be a secret"),
        ("/usr/bin", "/usr/bin"),
        (f"use sk-{'a1B2' * 6} now", "use [redacted] now"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ", "[redacted]"),
        ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
        ("https://ann:secret@host/x", "https://[redacted]@host/x"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF", "[redacted]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest", "[redacted]\nrest"),
        ("-----BEGIN PRIVATE KEY-----\nnever closed", "[redacted]"),
        ("a task-force and risk-averse-people-everywhere", "a task-force and risk-averse-people-everywhere"),
    ],
)
def test_secrets_are_hidden_and_the_rest_is_left(text: str, shown: str) -> None:
    assert redactor(ENVIRON)(text) == shown


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    assert redacted_bytes(redactor(ENVIRON), b"\xff\x00 hunter2hunter2 \xfe") == b"\xff\x00 [redacted] \xfe"


def test_without_secrets_in_the_environment_shapes_are_still_found() -> None:
    assert redactor({})("AKIAABCDEFGHIJKLMNOP") == "[redacted]"
