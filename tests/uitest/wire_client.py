"""A client of the harness that knows nothing of ours: the field numbers of the specification, and gRPC.

Messages are written and read by hand, so that a number that changes is found out.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc

SERVICE = "/interlock.uitest.v1.ImGuiTestHarness/"

Value = int | str | bool


def encode(fields: dict[int, Value]) -> bytes:
    out = b""
    for number, value in fields.items():
        if isinstance(value, str):
            content = value.encode()
            out += _varint(number << 3 | 2) + _varint(len(content)) + content
        else:
            out += _varint(number << 3) + _varint(int(value) & (2**64 - 1))
    return out


class Message:
    """What came, by number; a number that did not come is empty or 0."""

    def __init__(self, content: bytes) -> None:
        self._found: dict[int, list[int | bytes]] = {}
        at = 0
        while at < len(content):
            tag, at = _read_varint(content, at)
            match tag & 7:
                case 0:
                    value, at = _read_varint(content, at)
                    self._add(tag >> 3, value)
                case 2:
                    size, at = _read_varint(content, at)
                    self._add(tag >> 3, content[at : at + size])
                    at += size
                case 5:
                    self._add(tag >> 3, content[at : at + 4])
                    at += 4
                case other:
                    raise AssertionError(f"wire type {other}")

    def _add(self, number: int, value: int | bytes) -> None:
        self._found.setdefault(number, []).append(value)

    def number(self, field: int) -> int:
        found = self._found.get(field, [0])[-1]
        assert isinstance(found, int)
        return found

    def text(self, field: int) -> str:
        found = self._found.get(field, [b""])[-1]
        assert isinstance(found, bytes)
        return found.decode()

    def raw(self, field: int) -> bytes:
        found = self._found.get(field, [b""])[-1]
        assert isinstance(found, bytes)
        return found

    def messages(self, field: int) -> list["Message"]:
        return [Message(each) for each in self._found.get(field, []) if isinstance(each, bytes)]

    def texts(self, field: int) -> list[str]:
        return [each.decode() for each in self._found.get(field, []) if isinstance(each, bytes)]


class Client:
    def __init__(self, file: Path, token: str | None = None) -> None:
        found = json.loads(file.read_text())
        self.channel = grpc.insecure_channel(f"{found['host']}:{found['port']}")
        self.metadata: tuple[tuple[str, str], ...] = (("authorization", f"Bearer {token or found['token']}"),)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *how: object) -> None:
        self.channel.close()

    def call(self, method: str, fields: dict[int, Value] | None = None, timeout: float = 60) -> Message:
        made: Any = self.channel.unary_unary(SERVICE + method)
        return Message(made(encode(fields or {}), metadata=self.metadata, timeout=timeout))

    def begin(self, method: str, fields: dict[int, Value]) -> tuple[str, Any]:
        """The id of the test that this begins, found where those under way are listed, and what will be its answer."""
        before = {each.text(1) for each in self.list(status=2).messages(1)}
        made: Any = self.channel.unary_unary(SERVICE + method)
        call = made.future(encode(fields), metadata=self.metadata, timeout=60)
        while not call.done():
            for each in self.list(status=2).messages(1):
                if each.text(1) not in before:
                    return each.text(1), call
        raise AssertionError("it ended before it was seen")

    def stream(self, method: str, fields: dict[int, Value]) -> Iterator[Message]:
        made: Any = self.channel.unary_stream(SERVICE + method)
        for content in made(encode(fields), metadata=self.metadata, timeout=60):
            yield Message(content)

    # ── the calls by their fields ────────────────────────────────────────────────────────

    def click(self, target: str, kind: int = 1, key: str = "") -> Message:
        return self.call("Click", {1: target, 2: kind, **({3: key} if key else {})})

    def type(self, target: str, text: str, *, clear_first: bool = True) -> Message:
        return self.call("Type", {1: target, 2: text, 3: clear_first})

    def wait(self, condition: str, timeout_ms: int = 30_000) -> Message:
        return self.call("Wait", {1: condition, 2: timeout_ms})

    def check(self, condition: str, said: str = "") -> Message:
        return self.call("Assert", {1: condition, **({2: said} if said else {})})

    def status(self, test_id: str) -> Message:
        return self.call("GetTestStatus", {1: test_id})

    def list(self, **fields: Value) -> Message:
        numbers = {"category": 1, "size": 2, "token": 3, "status": 4}
        return self.call("ListTests", {numbers[name]: value for name, value in fields.items()})


def _varint(number: int) -> bytes:
    out = bytearray()
    while True:
        low, number = number & 0x7F, number >> 7
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number - 2**64 if number >= 2**63 else number, at
