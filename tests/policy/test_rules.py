"""Rules: syntax, scope and precedence."""

from pathlib import Path

import pytest

from interlock.domain.checks.closed_names import ClosedNames
from interlock.errors import Misconfigured
from interlock.policy.flags import Parsed, has_loosely, known_options, parsed
from interlock.policy.reading.words import Word
from interlock.policy.rule_files import failed_examples, read_rules
from interlock.policy.rules import Rule, Source
from interlock.policy.sources import RuleSources, project_policy, shipped_rules
from interlock.policy.verdict import PersonOnly, ShellPolicy
from interlock.ports.work import PolicyVerdict


def harmless(parts: tuple[str, ...]) -> str | None:
    return "it is secret" if "secret" in parts else None


def rules(text: str, source: Source = "user") -> tuple[Rule, ...]:
    return read_rules(text, "config.toml", source)


def policy(*sources: tuple[Rule, ...], shipped: bool = True) -> ShellPolicy:
    everything = tuple(rule for some in sources for rule in some) + (shipped_rules() if shipped else ())
    return ShellPolicy(lambda: everything, harmless, "/users/me")


def verdict_of(shell_policy: ShellPolicy, script: str) -> tuple[str, str]:
    verdict = shell_policy.script(script, "/project")
    return verdict.verdict, verdict.rule


def allow(command: str, name: str = "mine", more: str = "") -> str:
    return f'[[policy]]\nname = "{name}"\nverdict = "allow"\ncommand = "{command}"\n{more}\n'


def rule(verdict: str, command: str, name: str) -> str:
    return f'[[policy]]\nname = "{name}"\nverdict = "{verdict}"\ncommand = "{command}"\n'


def test_every_example_of_the_shipped_rules_holds_and_each_rule_has_some() -> None:
    assert failed_examples(shipped_rules(), ClosedNames().refusal) == []
    assert [rule.name for rule in shipped_rules() if not rule.match or not rule.not_match] == []


# ── options ──────────────────────────────────────────────────────────────────────────────


def options(line: str, *known: str) -> Parsed | None:
    return parsed([Word(text) for text in line.split()], known_options(known))


def test_options_have_one_form() -> None:
    known = ("-r", "-f", "-n=", "--lines=", "--file=path", "--color[=]", "-NUM", "--", "-c=NUM")
    assert options("-rf a", *known) == options("-r -f a", *known) == options("a -fr", *known)
    assert options("-n5 -rn 3 --lines=2 --lines 1 x", *known) == Parsed(
        frozenset(("-n", "-r", "--lines")), (Word("x"),), ()
    )
    assert options("--file a --file=b -- -r", *known) == Parsed(
        frozenset(("--file",)), (Word("-r"),), (Word("a"), Word("b"))
    )
    assert options("-c 5 -c+3k x", *known) == Parsed(frozenset(("-c",)), (Word("x"),), ())
    assert options("-20 --color --color=auto -", *known) == Parsed(frozenset(("-NUM", "--color")), (Word("-"),), ())


@pytest.mark.parametrize(
    "line",
    ["-x", "-rx", "--line=3", "--lines", "-n", "--recursive", "-r=x --color3", "-5x", "-- a", "-c .env", "-c5/x"],
)
def test_an_option_that_is_not_known_is_not_read(line: str) -> None:
    assert options(line, "-r", "-n=", "--lines=", "--color[=]", "-NUM", "-c=NUM") is None


@pytest.mark.parametrize(
    "line", ["-- . -delete", ". -- -delete", "-name=x", "-type -delete", "-maxdepth -delete", "-x"]
)
def test_where_options_are_whole_words_nothing_ends_them(line: str) -> None:
    known = known_options(["-name=", "-type=", "-maxdepth=NUM", "--"])
    assert parsed([Word(text) for text in line.split()], known, whole_words=True) is None


@pytest.mark.parametrize("line", ["-f", "-rf", "--force", "--force=x", "--forc", "a -xf"])
def test_to_ask_or_deny_an_option_counts_in_any_spelling(line: str) -> None:
    given = [Word(text) for text in line.split()]
    assert has_loosely(given, "-f") or has_loosely(given, "--force")
    assert not has_loosely(given, "-q")


# ── precedence ──────────────────────────────────────────────────────────────────────────


def test_a_deny_always_wins_and_asking_wins_over_allowing() -> None:
    user_rules = rules(allow("make", "yes") + rule("ask", "make", "look") + allow("sudo", "me"))
    assert verdict_of(policy(user_rules), "make") == ("ask", "look")
    assert verdict_of(policy(user_rules), "sudo make") == ("deny", "no-other-user")
    assert verdict_of(policy(rules(allow("npm test"))), "npm test") == ("allow", "mine")
    assert verdict_of(policy(rules(allow("git push"))), "git push") == ("allow", "mine")  # wins over a shipped ask


def test_a_project_tightens_and_never_loosens() -> None:
    user_rules = rules(allow("make") + rule("ask", "npm", "slow"))
    project_rules = rules(rule("deny", "make", "never") + allow("npm", "all") + allow("tox", "tests"), "project")
    shell_policy = policy(user_rules, project_rules)
    assert verdict_of(shell_policy, "make") == ("deny", "never")
    assert verdict_of(shell_policy, "npm test") == ("ask", "slow")
    assert verdict_of(shell_policy, "tox") == ("allow", "tests")
    assert verdict_of(shell_policy, "ls && tox") == ("allow", "list-files+tests")


def test_the_rules_of_a_project_that_is_not_trusted_only_tighten(tmp_path: Path) -> None:
    user, project, trusted = tmp_path / "config.toml", tmp_path / "interlock.toml", set[bytes]()
    project.write_text(allow("tox") + rule("deny", "ls", "no-ls"))
    sources = RuleSources(user, project, trusted.__contains__, harmless, tmp_path / "trust")
    shell_policy = ShellPolicy(sources.rules, harmless)
    assert (verdict_of(shell_policy, "tox"), verdict_of(shell_policy, "ls")) == (("ask", "default"), ("deny", "no-ls"))
    trusted.add(project_policy(project.read_text()) or b"")
    (tmp_path / "trust").write_text("x")
    assert verdict_of(shell_policy, "tox") == ("allow", "mine")
    project.write_text(project.read_text().replace("tox", "nox"))
    assert (verdict_of(shell_policy, "nox"), verdict_of(shell_policy, "tox")) == (
        ("ask", "default"),
        ("ask", "default"),
    )
    user.write_text(rule("ask", "ls", "quiet"))
    project.unlink()
    assert verdict_of(shell_policy, "ls") == ("ask", "quiet")
    user.write_text("[[policy]]\n")
    verdict = shell_policy.script("pwd", "/project")
    assert (verdict.verdict, "config.toml:1: a rule needs a 'verdict'" in verdict.reason) == ("ask", True)


def test_tools_have_rules_too() -> None:
    deny = '[[policy]]\nname = "no-patch"\nverdict = "deny"\ntool = "apply_patch"\n'
    user_rules = rules('[[policy]]\nverdict = "allow"\ntool = "py_*"\n' + deny)
    shell_policy = policy(user_rules)
    assert shell_policy.tool("py_set_signature") == PolicyVerdict("allow", "user-1", "a rule says so (config.toml:1)")
    assert shell_policy.tool("apply_patch").verdict == "deny"
    assert shell_policy.tool("write_file").verdict == "ask"
    strict = policy(rules('[[policy]]\nname = "no-shell"\nverdict = "deny"\ntool = "run_shell"\n'))
    assert verdict_of(strict, "ls") == ("deny", "no-shell")
    assert strict.script("make", "/project", ("make",)).verdict == "deny"


def test_a_gate_of_the_own_ticket_is_allowed_unless_a_rule_denies_it() -> None:
    shell_policy = policy()
    assert shell_policy.script("make test > log", "/project", ("make test > log",)) == PolicyVerdict(
        "allow", "own-gate", "it is a gate of its own ticket"
    )
    assert shell_policy.script("sudo make", "/project", ("sudo make",)).verdict == "deny"
    assert shell_policy.script("make", "/project", ("make test",)).verdict == "ask"


def test_without_a_sandbox_rules_allow_nothing() -> None:
    shell_policy = PersonOnly(policy(rules('[[policy]]\nverdict = "allow"\ntool = "write_file"\n')))
    assert shell_policy.script("ls", "/project").verdict == "ask"
    assert shell_policy.script("make", "/project", ("make",)).verdict == "ask"
    assert shell_policy.tool("write_file").verdict == "ask"
    assert shell_policy.script("rm -rf /", "/project").verdict == "deny"


def test_exactly_is_exactly() -> None:
    shell_policy = policy(rules('[[policy]]\nname = "x"\nverdict = "allow"\nexactly = "npm run \'a b\'"\n'))
    assert verdict_of(shell_policy, 'npm run "a b"') == ("allow", "x")
    for other in ("npm run a b", "npm run 'a b' c", "npm run", "FOO=1 npm run 'a b'", "npm run 'a b' > x"):
        assert verdict_of(shell_policy, other) == ("ask", "default")


def test_private_paths_are_decided_by_the_given_function() -> None:
    shell_policy = policy()
    assert verdict_of(shell_policy, "cat a/secret") == ("ask", "default")
    assert shell_policy.script("cat a/secret", "/project").reason == "cat: it is secret"


# ── syntax ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n[[policy]]\n", "config.toml:2: a rule needs a 'verdict'"),
        ('[[policy]]\nverdict = "alow"\ncommand = "x"\n', "config.toml:2: policy.verdict is wrong: invalid enum value"),
        ('[[policy]]\nverdict = "ask"\n', "config.toml:1: a rule is about one of 'tool', 'command' or 'exactly'"),
        (
            '[[policy]]\nverdict = "ask"\ncomand = "x"\n',
            "config.toml:3: unknown key 'policy.comand'; did you mean 'command'?",
        ),
        ('[[policy]]\nverdict = "ask"\nzzz = "x"\n', "config.toml:3: unknown key 'policy.zzz'; known here: verdict"),
        ('[[policy]]\nverdict = "ask"\ncommand = " "\n', "config.toml:3: policy.command has a program's name"),
        (
            '[[policy]]\nverdict = "allow"\ncommand = "m*"\n',
            "config.toml:3: a rule that allows names its programs exactly",
        ),
        ('[[policy]]\nverdict = "allow"\nexactly = "a; b"\n', "config.toml:3: policy.exactly is one plain command"),
        (
            '[[policy]]\nverdict = "allow"\ncommand = "a"\noptions = ["x"]\n',
            "config.toml:4: policy.options: 'x' is no option",
        ),
        (
            '[[policy]]\nverdict = "allow"\ncommand = "a"\nfirst = "("\n',
            "config.toml:4: policy.first is no regular expression",
        ),
        (
            '[[policy]]\nverdict = "allow"\ntool = "run_shell"\n',
            "config.toml:3: scripts are allowed by rules with 'command'",
        ),
        (
            '[[policy]]\nverdict = "allow"\ncommand = "a"\noperands = "outside"\n',
            "config.toml:4: 'outside' is for rules that",
        ),
        (allow("a") + allow("b"), "config.toml:7: there is another rule called 'mine'"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(text: str, message: str) -> None:
    with pytest.raises(Misconfigured) as failure:
        rules(text)
    assert str(failure.value).startswith(message)


def test_a_project_may_not_bring_regular_expressions() -> None:
    with pytest.raises(Misconfigured, match="for the user's own rules"):
        rules(allow("a", more='first = "(a+)+"'), "project")


def test_examples_are_checked(tmp_path: Path) -> None:
    text = allow("make", more='options = ["-s"]\nmatch = ["make -s", "make -j"]\nnot_match = ["make x"]')
    user = tmp_path / "config.toml"
    user.write_text(text)
    sources = RuleSources(user, None, lambda _: False, ClosedNames().refusal)
    assert sources.failed() == [
        f"{user}:1: rule 'mine' should match but does not: make -j",
        f"{user}:1: rule 'mine' matches but should not: make x",
    ]
    with pytest.raises(Misconfigured, match="should match but does not: make -j"):
        sources.rules()
    tool = '[[policy]]\nverdict = "ask"\ntool = "py_*"\nmatch = ["py_x", "x"]\n'
    assert failed_examples(rules(tool), harmless) == ["config.toml:1: rule 'user-1' should match but does not: x"]


def test_an_exact_rule_allows_only_where_the_script_starts(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    own = rules('[[policy]]\nname = "build"\nverdict = "allow"\nexactly = "./build.sh"\n')
    judge = policy(own)
    assert judge.script("./build.sh", str(tmp_path)).verdict == "allow"
    assert judge.script("cd sub && ./build.sh", str(tmp_path)).verdict == "ask"
    assert judge.script("true || cd sub && ./build.sh", str(tmp_path)).verdict == "ask"


# ── hosts of tools ───────────────────────────────────────────────────────────────────────


def tool_rule(verdict: str, name: str, more: str = "", tool: str = "fetch_url") -> str:
    return f'[[policy]]\nname = "{name}"\nverdict = "{verdict}"\ntool = "{tool}"\n{more}\n'


def fetch_verdict(shell_policy: ShellPolicy, *hosts: str, tool: str = "fetch_url") -> tuple[str, str]:
    verdict = shell_policy.tool(tool, hosts=hosts)
    return verdict.verdict, verdict.rule


def test_a_rule_allows_a_host_and_no_other() -> None:
    shell_policy = policy(rules(tool_rule("allow", "docs", 'hosts = ["docs.python.org", "*.rs", "a.b:8080"]')))
    for host in ("docs.python.org", "Docs.Python.org.", "docs.rs", "x.docs.rs", "a.b:8080"):
        assert fetch_verdict(shell_policy, host) == ("allow", "docs")
    for host in ("python.org", "evil-docs.python.org", "docs.python.org.evil", "docs.python.org:8080", "rs", "a.b"):
        assert fetch_verdict(shell_policy, host) == ("ask", "default")
    assert fetch_verdict(shell_policy, "docs.python.org", "evil.org") == ("ask", "default")
    assert fetch_verdict(shell_policy) == ("ask", "default")


def test_a_deny_of_a_host_wins_on_every_port() -> None:
    text = tool_rule("allow", "all", 'hosts = ["*"]') + tool_rule("deny", "not-there", 'hosts = ["evil.org"]')
    shell_policy = policy(rules(text))
    assert fetch_verdict(shell_policy, "good.org") == ("allow", "all")
    assert fetch_verdict(shell_policy, "evil.org") == fetch_verdict(shell_policy, "evil.org:8080")
    assert fetch_verdict(shell_policy, "evil.org") == ("deny", "not-there")
    everywhere = policy(rules(tool_rule("deny", "no", 'hosts = ["evil.org"]', tool="*")))
    assert everywhere.tool("edit_file", ("a.py",)).verdict == "ask"  # it contacts no host


def test_a_rule_for_every_tool_does_not_allow_the_network() -> None:
    shell_policy = policy(
        rules(tool_rule("allow", "every", tool="*") + tool_rule("allow", "search", tool="web_search"))
    )
    assert fetch_verdict(shell_policy, "a.b") == fetch_verdict(shell_policy) == ("ask", "default")
    assert fetch_verdict(shell_policy, "s.org", tool="web_search") == ("allow", "search")
    assert fetch_verdict(shell_policy, "s.org", tool="mcp_tool") == ("ask", "default")
    paths = policy(rules(tool_rule("deny", "no-ci", 'paths = ["ci/**"]', tool="*")))
    assert fetch_verdict(paths, "a.b") == ("ask", "default")  # it changes no file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (tool_rule("allow", "x"), "config.toml:4: a rule that allows fetch_url names its hosts"),
        (tool_rule("allow", "x", 'hosts = ["https://a.b/"]'), "config.toml:5: policy.hosts: 'https://a.b/' is no host"),
        (tool_rule("allow", "x", 'hosts = ["a*.b"]'), "is no host"),
        (tool_rule("allow", "x", 'hosts = ["a.b"]\npaths = ["a"]'), "such a tool changes no 'paths'"),
        (allow("ls", more='hosts = ["a.b"]'), "'hosts' are what a 'tool' contacts"),
    ],
)
def test_a_wrong_rule_about_hosts_names_its_line(text: str, message: str) -> None:
    with pytest.raises(Misconfigured) as error:
        rules(text)
    assert message in str(error.value)


def test_examples_of_hosts_are_checked() -> None:
    good = rules(tool_rule("allow", "x", 'hosts = ["a.b"]\nmatch = ["fetch_url a.b"]\nnot_match = ["fetch_url c.d"]'))
    assert failed_examples(good, harmless) == []
    wrong = rules(tool_rule("allow", "x", 'hosts = ["a.b"]\nmatch = ["fetch_url c.d"]'))
    assert failed_examples(wrong, harmless) == [
        "config.toml:1: rule 'x' should match but does not: fetch_url c.d",
    ]
