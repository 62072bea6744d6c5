"""An emulator of the kernel's BPF machine, for the instructions that the filter uses."""

import struct
from collections.abc import Sequence

KILL, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000


def answer(program: bytes, audit: int, number: int, arguments: Sequence[int] = ()) -> int:
    """The filter's action for a system call."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", struct.unpack("=i", struct.pack("=I", number))[0], audit, 0, *padded)
    instructions = list(struct.iter_unpack("=HBBI", program))
    accumulator = at = 0
    while True:
        operation, then, otherwise, k = instructions[at]
        at += 1
        match operation:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, k)
            case 0x54:
                accumulator &= k
            case 0x15:
                at += then if accumulator == k else otherwise
            case 0x35:
                at += then if accumulator >= k else otherwise
            case 0x45:
                at += then if accumulator & k else otherwise
            case 0x06:
                return k
            case _:
                raise AssertionError(f"operation {operation:#x}")
