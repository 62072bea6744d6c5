"""Arguments of `interlock models …`, `interlock tools …` and `interlock agents …`."""

from interlock.cli.words.commands import PROVIDERS, Commands, add_command, add_group

_HOSTED = list(dict.fromkeys(("gemini", *(name for name in PROVIDERS if name not in ("gemini_cli", "scripted")))))
_WITH_KEY = [name for name in _HOSTED if name not in ("ollama", "llama.cpp", "vllm")]
_SEARCHES = ["brave", "tavily", "custom"]  # providers of web_search


def add_models(commands: Commands) -> None:
    group = add_group(
        commands,
        "models",
        "models: list, refresh, test, key",
        "interlock models list",
        "interlock models test anthropic",
    )
    listing = add_command(
        group,
        "list",
        "inspect.models:list_",
        "list models with limits, prices and end dates, and which keys are set",
        "interlock models list --provider openai",
    )
    listing.add_argument("--provider", choices=_HOSTED, metavar="P", help=", ".join(_HOSTED))
    refresh = add_command(
        group,
        "refresh",
        "inspect.model_lists:refresh",
        "fetch the vendors' lists of models; shows what is new or gone, and changes no setting",
        "interlock models refresh",
        "interlock models refresh --provider ollama",
    )
    refresh.add_argument("--provider", choices=_HOSTED, metavar="P", help="default: those with a key or an address")
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
        names = [*_WITH_KEY, *_SEARCHES]
        command.add_argument("provider", choices=names, metavar="PROVIDER", help=", ".join(names))


def add_tools(commands: Commands) -> None:
    group = add_group(
        commands,
        "tools",
        "the tools of workers and discussions: list, call",
        "interlock tools list",
        "interlock tools call grep pattern=TODO",
    )
    listing = add_command(
        group,
        "list",
        "tools.listing:list_",
        "list tools: which change something, which are off and why",
        "interlock tools list --json --schema",
    )
    listing.add_argument("--schema", action="store_true", help="also the JSON schema of each tool's arguments")
    call = add_command(
        group,
        "call",
        "tools.calling:call",
        "call one tool on the project's files; what changes something asks as in a discussion",
        "interlock tools call read_file path=README.md",
        "interlock tools call fetch_url url=https://docs.python.org/3/",
        """interlock tools call write_file --args '{"path": "a.py", "content": "x"}'""",
    )
    call.add_argument("name", metavar="NAME", help="the tool")
    call.add_argument("words", nargs="*", metavar="KEY=VALUE", help="its arguments")
    call.add_argument("--args", dest="arguments", metavar="JSON", help="its arguments as a JSON object; - is stdin")


def add_agents(commands: Commands) -> None:
    group = add_group(
        commands,
        "agents",
        "CLI agents that work on tickets: list, test",
        "interlock agents list",
        "interlock agents test claude",
    )
    add_command(
        group,
        "list",
        "outside.agents:list_",
        "list the agents: installed or not, their logins, how they ask",
        "interlock agents list --json",
    )
    test = add_command(
        group,
        "test",
        "outside.agents:test",
        "start an agent in the sandbox: its version, and one short answer without tools",
        "interlock agents test claude",
        "interlock agents test codex --no-call",
    )
    test.add_argument("name", metavar="NAME", help="claude, codex, gemini, opencode … or one of your settings")
    test.add_argument("--no-call", action="store_true", help="only the version: make no call, which may cost money")
