"""Wrapper commands: the command they run, and whether they do anything else."""

import re
from collections.abc import Sequence

from msgspec import Struct

from interlock.policy.reading.words import Word

Words = tuple[Word, ...]

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash"])
INTERPRETERS = SHELLS | frozenset(
    ["python", "python3", "python2", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "osascript", "pwsh"]
)
DOWNLOADERS = frozenset(
    ("curl", "wget", "fetch", "aria2c", "lynx", "http", "https", "xh", "ftp", "scp", "nc", "ncat", "netcat", "socat")
)
EVALUATORS = frozenset(("eval", "source", ".", "exec", "trap"))


class Wrapped(Struct, frozen=True):
    """`script` is text for another shell. `harmless`: the wrapper does not change the command it runs."""

    words: Words = ()
    script: str | None = None
    harmless: bool = False


# For each wrapper: options with a value in the next word, and the number of words before the command.
_PLAIN: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot", 0),
    "doas": ("-u -C", 0),
    "pkexec": ("--user", 0),
    "env": ("-u -C -S --unset --chdir --split-string", 0),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n -p --class --classdata", 0),
    "chrt": ("", 1),
    "taskset": ("", 1),
    "nohup": ("", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "time": ("-f -o --format --output", 0),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "setsid": ("", 0),
    "unshare": ("", 0),
    "nsenter": ("-t --target", 0),
    "chroot": ("", 1),
    "flock": ("-w -E --timeout --conflict-exit-code", 1),
    "strace": ("-o -e -p -s", 0),
    "ltrace": ("-o -e -p -s", 0),
    "watch": ("-n -d --interval", 0),
    "xargs": ("-I -n -P -L -d -E -a -s --max-args --max-procs --replace --delimiter --arg-file --max-lines", 0),
    "parallel": ("-j -I --jobs", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("-a", 0),
    "coproc": ("", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
}
_HARMLESS = frozenset(("command", "time", "timeout", "nice"))
_FIND_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_DURATION = re.compile(r"\d{1,6}(\.\d+)?[smh]?")


_SYSTEM = ("/bin/", "/usr/bin/")


def system_name(word: Word) -> str:
    """The name of a program that is called by its bare name or in a folder of the system; empty for all others."""
    name = word.text
    for folder in _SYSTEM:
        name = name.removeprefix(folder)
    return "" if "/" in name or word.glob or not word.literal else name


def program(words: Sequence[Word]) -> str:
    """The program name without its folder."""
    return words[0].text.rsplit("/", 1)[-1] if words else ""


def unwrapped(words: Words) -> tuple[Wrapped, ...]:
    """The commands that this command runs; empty for a command that is not a wrapper."""
    name = program(words)
    if name in SHELLS:
        return _shell_commands(words)
    if name in ("eval", "trap"):
        return (Wrapped(script=" ".join(word.text for word in words[1:])),)
    if name == "su":
        return tuple(Wrapped(script=text) for text in _after(words, ("-c", "--command")))
    if name == "find" or name == "fd":
        return _find_commands(words)
    if name in ("git", "ssh", "tmux", "screen", "script") or name not in _PLAIN:
        return ()
    return _wrapper_commands(name, words)


def _wrapper_commands(name: str, words: Words) -> tuple[Wrapped, ...]:
    valued, before = _PLAIN[name]
    takes_value = valued.split()
    rest, optioned = list(words[1:]), False
    while rest and (rest[0].text.startswith("-") or _ASSIGNMENT.match(rest[0].text)):
        option = rest.pop(0).text
        optioned = True
        if option == "--":
            break
        if name == "env" and option.startswith(("-S", "--split-string")):
            text = option.removeprefix("--split-string").removeprefix("-S").removeprefix("=")
            return (Wrapped(script=" ".join([text, *(word.text for word in rest)])),)
        if name == "command" and option in ("-v", "-V"):
            return ()
        if option in takes_value and rest:
            value = rest.pop(0)
            optioned = optioned and not (name == "nice" and value.literal and re.fullmatch(r"-?\d+", value.text))
    numbers, inner = rest[:before], tuple(rest[before:])
    if not inner:
        return ()
    measured = all(word.literal and _DURATION.fullmatch(word.text) for word in numbers)
    plain = system_name(words[0]) in _HARMLESS
    return (Wrapped(inner, harmless=plain and not optioned and measured),)


def _shell_commands(words: Words) -> tuple[Wrapped, ...]:
    """`sh -c TEXT`: the text is another script. Further words or options make it more than that text."""
    for at, word in enumerate(words[1:], 1):
        if not word.text.startswith(("-", "+")):
            return ()
        if word.text.startswith("--"):
            continue
        if "c" in word.text and at + 1 < len(words):
            text = words[at + 1]
            plain = system_name(words[0]) in ("sh", "bash")
            alone = at == 1 and len(words) == 3 and word.text in ("-c", "-lc") and not text.glob
            return (Wrapped(script=text.text, harmless=alone and text.literal and plain),)
        if word.text in ("-o", "+o", "-O", "+O"):
            continue
    return ()


def _find_commands(words: Words) -> tuple[Wrapped, ...]:
    wrapped: list[Wrapped] = []
    for at, word in enumerate(words):
        if word.text in _FIND_ACTIONS:
            inner: list[Word] = []
            for following in words[at + 1 :]:
                if following.text in (";", "+"):
                    break
                inner.append(following)
            if inner:
                wrapped.append(Wrapped(tuple(inner)))
    return tuple(wrapped)


def _after(words: Words, options: Sequence[str]) -> list[str]:
    return [words[at + 1].text for at, word in enumerate(words[:-1]) if word.text in options]
