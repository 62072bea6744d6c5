"""The words of `interlock models …`. Only argparse here, as in `parser`."""

from collections.abc import Callable, Sequence
from typing import Any


def add_models(
    commands: Any, command: Callable[..., Any], group_of: Callable[..., Any], providers: Sequence[str]
) -> None:
    hosted = list(dict.fromkeys(("gemini", *(name for name in providers if name not in ("gemini_cli", "scripted")))))
    keyed = [name for name in hosted if name not in ("ollama", "llama.cpp", "vllm")]
    group = group_of(commands, "models", "models: list, test, key")
    made = command(
        group, "list", "inspect.models:list_", "models with their limits, prices and ends, and whose key is set"
    )
    made.add_argument("--provider", choices=hosted, metavar="P", help=", ".join(hosted))
    made = command(
        group,
        "test",
        "inspect.models:test",
        "one tiny call: does the key work, how long does it take, what does it cost",
        "  interlock models test\n  interlock models test anthropic --model claude-haiku-5-5",
    )
    made.add_argument("provider", nargs="?", choices=hosted, metavar="PROVIDER", help="default: the one that is asked")
    made.add_argument("--model", metavar="M", help="default: the provider's usual one")
    keys = group_of(group, "key", "keys in the keyring: set, delete")
    for name, text in {
        "set": "keep a key in the keyring, read from the terminal or stdin",
        "delete": "take it out",
    }.items():
        made = command(keys, name, f"inspect.models:key_{name}", text)
        made.add_argument("provider", choices=keyed, metavar="PROVIDER", help=", ".join(keyed))
