"""The system call filter: in an emulator for every architecture, and in the kernel for this one."""

import errno
import platform
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.ports.processes import Job
from interlock.sandbox.jobs import jobs
from interlock.sandbox.limits import seccomp
from tests.sandbox.bpf import ALLOW, ERRNO, KILL, answer
from tests.sandbox.sandbox_levels import CONFINED, make_sandbox
from tests.sandbox.scenes import ENV, run

PERM, MISSING, NO_FAMILY = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS, ERRNO | errno.EAFNOSUPPORT
UNIX, INET, INET6, NETLINK, PACKET, ALG, VSOCK = 1, 2, 10, 16, 17, 38, 40
STREAM, DGRAM, RAW, SEQPACKET, CLOEXEC = 1, 2, 3, 5, 0o2000000


class Filter:
    def __init__(self, machine: str, *, shared: bool, network: bool = False) -> None:
        program = seccomp.program(shared=shared, network=network, machine=machine)
        assert program is not None
        self.program = program
        self.audit = seccomp.MACHINES[machine].audit
        self.numbers = seccomp.numbers(machine)

    def __call__(self, name: str, *arguments: int) -> int:
        return answer(self.program, self.audit, self.numbers[name], arguments)


@pytest.fixture(params=seccomp.MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("shared", [False, True])
def test_calls_that_lead_out_are_refused(machine: str, shared: bool) -> None:
    ask = Filter(machine, shared=shared)
    names = (
        *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "perf_event_open", "bpf", "keyctl", "add_key"),
        *("request_key", "mount", "umount2", "pivot_root", "move_mount", "fsmount", "open_tree", "mount_setattr"),
        *("setns", "userfaultfd", "open_by_handle_at", "pidfd_getfd", "init_module", "kexec_load", "reboot"),
    )
    assert {name: ask(name) for name in names} == dict.fromkeys(names, PERM)
    hidden = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
    assert {name: ask(name) for name in hidden} == dict.fromkeys(hidden, MISSING)


@pytest.mark.parametrize("flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
def test_threads_and_processes_are_made_and_namespaces_are_not(machine: str, flag: int) -> None:
    ask = Filter(machine, shared=False)
    thread = 0x3D0F00
    assert (ask("clone", thread), ask("clone", 17), ask("unshare", 0x400)) == (ALLOW, ALLOW, ALLOW)
    assert (ask("clone", thread | flag), ask("clone", 17 | flag), ask("unshare", flag)) == (PERM, PERM, PERM)
    assert ask("unshare", 0x80) == PERM


def test_no_command_inserts_input_into_the_terminal(machine: str) -> None:
    ask = Filter(machine, shared=False)
    assert (ask("ioctl", 0, 0x5412), ask("ioctl", 0, 0x541C), ask("ioctl", 0, 0x5401)) == (PERM, PERM, ALLOW)
    assert ask("ioctl", 0, 0xFFFFFFFF_00005412) == PERM  # the kernel uses only the lower half


def test_no_file_gets_the_rights_of_its_owner(machine: str) -> None:
    ask = Filter(machine, shared=False)
    places = {"fchmod": (0,), "fchmodat": (0, 0), "fchmodat2": (0, 0), "mknodat": (0, 0)}
    if machine == "x86_64":
        places |= {"chmod": (0,), "creat": (0,), "mknod": (0,)}
    for name, before in places.items():
        assert (ask(name, *before, 0o4755), ask(name, *before, 0o2755)) == (PERM, ALLOW), name
    create, read, temporary = 0o100, 0, 0o20200000
    assert [ask("openat", 0, 0, flags, 0o4755) for flags in (create, temporary, read)] == [PERM, PERM, ALLOW]
    assert ask("openat", 0, 0, create, 0o755) == ALLOW
    assert ask("openat2") == MISSING


def test_without_namespaces_no_folder_is_watched(machine: str) -> None:
    ask = Filter(machine, shared=True)
    assert (ask("inotify_init1"), Filter(machine, shared=False)("inotify_init1")) == (MISSING, ALLOW)


def test_without_namespaces_no_attribute_of_a_file_is_changed(machine: str) -> None:
    ask, alone = Filter(machine, shared=True), Filter(machine, shared=False)
    for name in ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "setxattrat", "removexattrat"):
        assert (ask(name), alone(name)) == (ERRNO | errno.EOPNOTSUPP, ALLOW)


def families(ask: Filter) -> set[int]:
    return {family for family in range(64) if ask("socket", family, STREAM) == ALLOW}


def test_sockets_are_as_far_reaching_as_the_network_around_them(machine: str) -> None:
    assert families(Filter(machine, shared=False)) == {UNIX, INET, INET6, NETLINK}
    assert families(Filter(machine, shared=False, network=True)) == {INET, INET6, NETLINK}
    assert families(Filter(machine, shared=True)) == set()
    assert families(Filter(machine, shared=True, network=True)) == {INET, INET6, NETLINK}
    assert Filter(machine, shared=True)("socket", VSOCK) == NO_FAMILY


def test_without_namespaces_only_pairs_that_stay_connected_are_made(machine: str) -> None:
    ask = Filter(machine, shared=True)
    pairs = {kind: ask("socketpair", UNIX, kind | CLOEXEC) for kind in (STREAM, DGRAM, RAW, SEQPACKET)}
    assert pairs == {STREAM: ALLOW, DGRAM: PERM, RAW: PERM, SEQPACKET: ALLOW}
    assert Filter(machine, shared=False)("socketpair", UNIX, DGRAM) == ALLOW
    with_network = Filter(machine, shared=False, network=True)
    assert (with_network("socketpair", UNIX, DGRAM), with_network("socketpair", UNIX, STREAM)) == (PERM, ALLOW)


@pytest.mark.parametrize("shared", [False, True])
def test_in_the_network_of_the_machine_netlink_tells_only_routes(machine: str, shared: bool) -> None:
    ask = Filter(machine, shared=shared, network=True)
    allowed = [kind for kind in range(32) if ask("socket", NETLINK, RAW | CLOEXEC, kind) == ALLOW]
    assert allowed == [0]
    assert (ask("socket", INET, STREAM, 6), ask("socket", INET6, DGRAM, 17)) == (ALLOW, ALLOW)
    assert Filter(machine, shared=False)("socket", NETLINK, RAW, 4) == ALLOW


def test_without_namespaces_a_command_acts_on_itself_only(machine: str) -> None:
    ask, alone = Filter(machine, shared=True), Filter(machine, shared=False)
    for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler"):
        assert (ask(name, 0), ask(name, 4711), alone(name, 4711)) == (ALLOW, PERM, ALLOW)
    assert (ask("setpriority", 0, 0), ask("setpriority", 0, 9), ask("setpriority", 2, 0)) == (ALLOW, PERM, PERM)
    for name in ("shmget", "shmat", "semget", "msgget", "mq_open"):
        assert (ask(name), alone(name)) == (PERM, ALLOW)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_numbers_of_another_architecture_are_the_end(audit: int, number: int, shared: bool, network: bool) -> None:
    for machine, known in seccomp.MACHINES.items():
        program = seccomp.program(shared=shared, network=network, machine=machine) or b""
        if audit != known.audit or (known.second_abi and number >= 0x40000000):
            assert answer(program, audit, number) == KILL
        elif number not in seccomp.numbers(machine).values():
            assert answer(program, audit, number) == ALLOW


def test_an_unknown_machine_has_no_filter() -> None:
    assert seccomp.program(shared=True, network=False, machine="vax") is None


def test_a_program_is_one_that_the_kernel_takes(machine: str) -> None:
    program = seccomp.program(shared=True, network=False, machine=machine) or b""
    assert len(program) % struct.calcsize("=HBBI") == 0
    assert len(program) // 8 <= 4096


# ── in the kernel ────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only there is a second way in")
@pytest.mark.parametrize("level", CONFINED)
@pytest.mark.parametrize("call", ["x32", "i386"])
def test_the_other_ways_into_the_kernel_are_the_end(tmp_path: Path, level: str, call: str) -> None:
    # mov eax, getpid (of x32, of i386); syscall or int 0x80; ret
    code = {"x32": "b827000040 0f05 c3", "i386": "b814000000 cd80 c3"}[call]
    program = f"""
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=7)
memory.write(bytes.fromhex("{code}"))
ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
print("came back")
"""
    argv = (jobs.INTERPRETER, "-I", "-S", "-c", program)
    outside = subprocess.run(argv, check=False, capture_output=True, text=True)
    if call == "i386" and outside.returncode:
        pytest.skip("this kernel has no 32-bit calls")
    finished = run(make_sandbox(level), Job(argv=argv, cwd=str(tmp_path), env=ENV, writable=(str(tmp_path),)))
    assert (finished.status, finished.signal, finished.stdout) == ("killed", 31, "")  # SIGSYS


@pytest.mark.parametrize("level", CONFINED)
def test_a_filter_is_in_force(tmp_path: Path, level: str) -> None:
    script = ("sh", "-c", "grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status")
    finished = run(make_sandbox(level), Job(argv=script, cwd=str(tmp_path), env=ENV, writable=(str(tmp_path),)))
    assert finished.stdout == "NoNewPrivs:\t1\nSeccomp:\t2\n"
