"""Arguments of `interlock models …`."""

from interlock.cli.words.commands import PROVIDERS, Commands, add_command, add_group

_HOSTED = list(dict.fromkeys(("gemini", *(name for name in PROVIDERS if name not in ("gemini_cli", "scripted")))))
_WITH_KEY = [name for name in _HOSTED if name not in ("ollama", "llama.cpp", "vllm")]


def add_models(commands: Commands) -> None:
    group = add_group(
        commands, "models", "models: list, test, key", "interlock models list", "interlock models test anthropic"
    )
    listing = add_command(
        group,
        "list",
        "inspect.models:list_",
        "list models with limits, prices and end dates, and which keys are set",
        "interlock models list --provider openai",
    )
    listing.add_argument("--provider", choices=_HOSTED, metavar="P", help=", ".join(_HOSTED))
    test = add_command(
        group,
        "test",
        "inspect.models:test",
        "make one tiny call: check the key, measure latency and cost",
        "interlock models test",
        "interlock models test anthropic --model claude-haiku-5-5",
    )
    test.add_argument(
        "provider", nargs="?", choices=_HOSTED, metavar="PROVIDER", help="default: the configured provider"
    )
    test.add_argument("--model", metavar="M", help="default: the provider's default model")
    _add_keys(group)


def _add_keys(group: Commands) -> None:
    keys = add_group(group, "key", "API keys in the keyring: set, delete", "interlock models key set anthropic")
    summaries = {
        "set": "store a key in the keyring; the key is read from the terminal or stdin",
        "delete": "remove a key from the keyring",
    }
    for name, summary in summaries.items():
        command = add_command(
            keys, name, f"inspect.models:key_{name}", summary, f"interlock models key {name} anthropic"
        )
        command.add_argument("provider", choices=_WITH_KEY, metavar="PROVIDER", help=", ".join(_WITH_KEY))
