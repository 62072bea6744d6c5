"""A client of the harness that uses only the protocol's field numbers and gRPC, and none of the generated code.

Messages are encoded and decoded here, so that a changed field number fails a test.
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
    """The fields of a message by number; a missing field is empty or 0."""

    def __init__(self, content: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
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
        self._fields.setdefault(number, []).append(value)

    def number(self, field: int) -> int:
        value = self._fields.get(field, [0])[-1]
        assert isinstance(value, int)
        return value

    def text(self, field: int) -> str:
        value = self._fields.get(field, [b""])[-1]
        assert isinstance(value, bytes)
        return value.decode()

    def raw(self, field: int) -> bytes:
        value = self._fields.get(field, [b""])[-1]
        assert isinstance(value, bytes)
        return value

    def messages(self, field: int) -> list["Message"]:
        return [Message(each) for each in self._fields.get(field, []) if isinstance(each, bytes)]

    def texts(self, field: int) -> list[str]:
        return [each.decode() for each in self._fields.get(field, []) if isinstance(each, bytes)]


class Client:
    def __init__(self, file: Path, token: str | None = None) -> None:
        address = json.loads(file.read_text())
        self.channel = grpc.insecure_channel(f"{address['host']}:{address['port']}")
        self.metadata: tuple[tuple[str, str], ...] = (("authorization", f"Bearer {token or address['token']}"),)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *how: object) -> None:
        self.channel.close()

    def call(self, method: str, fields: dict[int, Value] | None = None, timeout: float = 60) -> Message:
        method_call: Any = self.channel.unary_unary(SERVICE + method)
        return Message(method_call(encode(fields or {}), metadata=self.metadata, timeout=timeout))

    def begin(self, method: str, fields: dict[int, Value]) -> tuple[str, Any]:
        """Start a call; the id of its test, taken from the list of running tests, and the call's future."""
        before = {each.text(1) for each in self.list(status=2).messages(1)}
        method_call: Any = self.channel.unary_unary(SERVICE + method)
        call = method_call.future(encode(fields), metadata=self.metadata, timeout=60)
        while not call.done():
            for each in self.list(status=2).messages(1):
                if each.text(1) not in before:
                    return each.text(1), call
        raise AssertionError("the test ended before it was listed")

    def stream(self, method: str, fields: dict[int, Value]) -> Iterator[Message]:
        method_call: Any = self.channel.unary_stream(SERVICE + method)
        for content in method_call(encode(fields), metadata=self.metadata, timeout=60):
            yield Message(content)

    # ── the calls by their fields ────────────────────────────────────────────────────────

    def click(self, target: str, kind: int = 1, key: str = "") -> Message:
        return self.call("Click", {1: target, 2: kind, **({3: key} if key else {})})

    def type(self, target: str, text: str, *, clear_first: bool = True) -> Message:
        return self.call("Type", {1: target, 2: text, 3: clear_first})

    def wait(self, condition: str, timeout_ms: int = 30_000) -> Message:
        return self.call("Wait", {1: condition, 2: timeout_ms})

    def check(self, condition: str, message: str = "") -> Message:
        return self.call("Assert", {1: condition, **({2: message} if message else {})})

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
