"""A CLI agent as a model, in the real sandbox; the agents are small programs with the same protocol."""

import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.domain.values.budgets import Usage
from interlock.errors import Misconfigured, Unavailable
from interlock.ports.model import Message, ModelRequest, Reply, ToolCall
from interlock.ports.tools import ToolSpec
from interlock.providers.cli_agent.gemini_cli import GeminiCli, last_session, split_command, vendor_env
from interlock.sandbox.levels.bubblewrap import BubblewrapSandbox
from interlock.sandbox.levels.unconfined import UnconfinedSandbox
from tests.sandbox.sandbox_levels import make_sandbox
from tests.sandbox.scenes import BEAT, ENV, alive_in, first_beat

HEAD = """
import json, os, sys
prompt = sys.stdin.read()
def say(**event): print(json.dumps(event), flush=True)
def answer(text, **more):
    say(type="message", role="assistant", content=text)
    say(type="result", status="success", **more)
"""
HERE = Path(__file__).parent
READ = ToolSpec("read_file", "Reads a file.", {"type": "object"}, changes=False)


class Desk:
    """An agent, its home folder, and the received texts."""

    def __init__(self, folder: Path, *, configured: bool = True, level: str = "bubblewrap") -> None:
        self.folder = folder
        self._level = level
        self.home = folder / "home"
        self.home.mkdir()
        if configured:
            (self.home / ".gemini").mkdir()
        self.texts: list[str] = []
        self.calls: list[dict[str, Any]] = []

    def agent(self, body: str, **more: Any) -> GeminiCli:
        file = self.folder / "agent.py"
        file.write_text(HEAD + body)
        return self.cli(f"{shlex.quote(sys.executable)} {shlex.quote(str(file))} --mine", **more)

    def cli(self, command_line: str, **more: Any) -> GeminiCli:
        env = {**ENV, "HOME": str(self.home), "GEMINI_API_KEY": "key-of-the-vendor"}
        return GeminiCli(
            command_line,
            make_sandbox(self._level),
            env,
            self.folder / "own",
            log=self.calls.append,
            redact=lambda text: text.replace("key-of-the-vendor", "[redacted]"),
            **more,
        )

    def ask(self, agent: GeminiCli, *messages: Message, **more: Any) -> Reply:
        return asyncio.run(agent.complete(request(*messages, **more), self.texts.append))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def request(
    *messages: Message, tools: tuple[ToolSpec, ...] = (), model: str | None = None, ticket: str | None = "T-1"
) -> ModelRequest:
    return ModelRequest("Tier 3", ticket, model, "Be good.", messages or (Message("user", "Do it."),), tools)


# ── answers ──────────────────────────────────────────────────────────────────────────────


def test_an_answer_is_streamed_with_its_session_and_its_tokens(desk: Desk) -> None:
    agent = desk.agent(
        """
say(type="init", session_id="s-1", model="gemini-x")
say(type="message", role="assistant", content="Hel", delta=True)
say(type="message", role="assistant", content="lo.", delta=True)
say(type="result", status="success", stats={"input_tokens": 10, "output_tokens": 2})
"""
    )
    reply = desk.ask(agent)
    assert reply == Reply(Message("assistant", "Hello.", session="gemini_cli s-1"), Usage(10, 2), "gemini-x")
    assert desk.texts == ["Hel", "lo."]


@pytest.mark.parametrize("configured", [True, False])
def test_on_the_level_made_with_landlock_it_answers_and_its_session_goes_on(tmp_path: Path, configured: bool) -> None:
    desk = Desk(tmp_path, configured=configured, level="landlock")
    if configured:
        (desk.home / ".gemini" / "settings.json").write_text("{}")
        (desk.home / ".gemini" / "sessions").mkdir()
    agent = desk.agent(
        """
from pathlib import Path
here = Path.home() / ".gemini" / "sessions"
here.mkdir(parents=True, exist_ok=True)
(here / "s-1").open("a").write("x")
tried = []
for path, text in ((Path.home() / ".gemini" / "settings.json", "evil"), (Path("here"), "x")):
    try:
        path.write_text(text)
        tried.append("written")
    except OSError:
        tried.append("refused")
answer(json.dumps([os.listdir("."), os.getcwd(), (here / "s-1").read_text(), tried]), session_id="s-1")
"""
    )
    answers = [json.loads(desk.ask(agent).message.text) for _ in range(2)]
    settings = "refused" if configured else "written"  # without user settings the agent writes its own
    work = str(tmp_path / "own-work")
    assert answers == [[[], work, "x", [settings, "refused"]], [[], work, "xx", [settings, "refused"]]]


def test_the_agent_gets_its_context_and_only_its_own_vendors_key(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-vendors")
    reply = desk.ask(desk.agent("answer(json.dumps([sys.argv[1:], dict(os.environ), prompt]))"), model="--yolo")
    argv, env, prompt = json.loads(reply.message.text)
    assert argv == ["--mine", "--output-format", "stream-json", "--model=--yolo"], "a name can never be an option"
    assert prompt == "Be good.\n\nDo it."
    assert json.loads(env["GEMINI_CLI_HOOK_CONTEXT"]) == {"tier": "Tier 3", "ticket": "T-1"}
    assert env["GEMINI_API_KEY"] == "key-of-the-vendor"
    assert "ANTHROPIC_API_KEY" not in env
    assert env["HOME"] == str(desk.home)


def test_only_the_keys_of_its_vendor_are_taken_along() -> None:
    environ = {
        "GEMINI_API_KEY": "1",
        "GOOGLE_API_KEY": "2",
        "GOOGLE_GENAI_USE_VERTEXAI": "3",
        "GOOGLE_CLOUD_PROJECT": "4",
        "GOOGLE_CLOUD_LOCATION": "5",
        "GOOGLE_GEMINI_BASE_URL": "6",
        "GOOGLE_MAPS_KEY": "no",
        "OPENAI_API_KEY": "no",
    }
    assert "".join(sorted(vendor_env(environ).values())) == "123456"


def test_a_program_of_an_npm_package_starts_by_its_path_with_its_parts_and_its_interpreter(desk: Desk) -> None:
    packages = desk.home / "npm" / "node_modules"
    script = packages / "@vendor" / "agent" / "bundle" / "agent.js"
    script.parent.mkdir(parents=True)
    (packages / "part").mkdir()
    (packages / "part" / "text").write_text("from the part")
    script.write_text(
        "#!/usr/bin/env interpreter\n"
        'cat >/dev/null; text=$(cat "$(dirname "$(readlink -f "$0")")/../../../part/text")\n'
        'echo "{\\"type\\":\\"message\\",\\"role\\":\\"assistant\\",\\"content\\":\\"$text\\"}"\n'
        'echo "{\\"type\\":\\"result\\",\\"status\\":\\"success\\",\\"session_id\\":\\"s\\"}"\n'
    )
    script.chmod(0o755)
    (packages / ".bin").mkdir()
    (packages / ".bin" / "interpreter").symlink_to("/bin/sh")
    (packages / ".bin" / "agent").symlink_to("../@vendor/agent/bundle/agent.js")
    reply = desk.ask(desk.cli(str(packages / ".bin" / "agent")))
    assert reply.message.text == "from the part"


def test_missing_token_counts_are_estimated(desk: Desk) -> None:
    reply = desk.ask(desk.agent("answer('x' * 40)"))
    assert reply.usage == Usage(len("Be good.\n\nDo it.") // 4, 10)
    assert (reply.model, reply.message.session) == ("gemini_cli", "")


def test_a_call_of_our_tools_is_a_call_and_a_planner_has_none(desk: Desk) -> None:
    body = """answer('I look.\\n```tool_call\\n{"name": "read_file", "args": {"path": "a"}}\\n```')"""
    reply = desk.ask(desk.agent(body), tools=(READ,))
    assert reply.message == Message("assistant", "I look.", (ToolCall("cli-1", "read_file", {"path": "a"}),))
    assert "```tool_call" in desk.ask(desk.agent(body)).message.text


# ── sessions ─────────────────────────────────────────────────────────────────────────────

TELLS = "answer(json.dumps([os.getcwd(), sys.argv[4:], prompt]), session_id='s-7')"


def test_the_next_turn_goes_on_in_the_same_session_and_folder_with_what_is_new(desk: Desk) -> None:
    agent = desk.agent(TELLS)
    asked = Message("user", "Do it.")
    first = desk.ask(agent, asked).message
    result = Message("tool", "three lines", call_id="c-1")
    again = desk.agent(TELLS)  # another process: the messages hold the session
    second = desk.ask(again, asked, first, result).message
    (place, options, _), (place_2, options_2, prompt) = json.loads(first.text), json.loads(second.text)
    assert (options, options_2) == ([], ["--resume=s-7"])
    assert place == place_2
    assert prompt.splitlines()[2:] == ['{"role": "tool", "tool_call_id": "c-1", "content": "three lines"}']
    assert second.session == first.session


def test_a_failed_session_is_left_and_the_whole_history_is_sent_again(desk: Desk) -> None:
    agent = desk.agent("if '--resume=gone' in sys.argv: sys.exit('no such session')\n" + TELLS)
    messages = (
        Message("user", "Do it."),
        Message("assistant", "Done.", session="gemini_cli gone"),
        Message("user", "And now?"),
    )
    with pytest.raises(Unavailable, match=r"exit code 1.*no such session"):
        desk.ask(agent, *messages)
    _, options, prompt = json.loads(desk.ask(agent, *messages).message.text)
    assert options == []
    assert [json.loads(row)["content"] for row in prompt.splitlines()[-3:]] == ["Do it.", "Done.", "And now?"]


@pytest.mark.parametrize("session", ["", "other s-1", "gemini_cli ../..", "gemini_cli --x", "gemini_cli a b"])
def test_a_foreign_session_state_is_ignored(session: str) -> None:
    messages = (Message("user", "a"), Message("assistant", "b", session=session), Message("user", "c"))
    assert last_session(messages) == (None, messages)


def test_an_id_that_could_be_anything_else_is_not_kept(desk: Desk) -> None:
    assert desk.ask(desk.agent("answer('a', session_id='--yolo')")).message.session == ""


# ── failures ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", r"it said nothing"),
        ("answer('all of it'); sys.exit('quota of key-of-the-vendor')", r"exit code 1 \(quota of \[redacted\]\)"),
        ("say(type='message', role='assistant', content='half')", "its answer broke off"),
        ("print('hello'); answer('a')", "cannot be read: 'hello'"),
        ("say(type='error', message='overloaded'); sys.exit(2)", "exit code 2: overloaded"),
        ("say(type='result', status='error', error={'message': 'no more'})", "no more"),
        ("answer('a'); import signal; os.kill(os.getpid(), signal.SIGSEGV)", "killed by signal 11"),
        ("say(type='message', role='assistant', content='x'); print('y' * 17_000_000)", "a line of more than 16 MB"),
    ],
)
def test_an_incomplete_answer_may_be_retried(desk: Desk, body: str, words: str) -> None:
    with pytest.raises(Unavailable, match=words) as caught:
        desk.ask(desk.agent(body))
    assert caught.value.may_cost
    assert desk.calls[0]["status"] in ("exited", "killed", "stopped")


def test_a_time_limit_ends_it(desk: Desk) -> None:
    with pytest.raises(Unavailable, match="no answer within 1 s"):
        desk.ask(desk.agent("import subprocess; subprocess.run(['sleep', '1000'])", timeout_s=1))


def test_cancelling_kills_everything_it_started(desk: Desk) -> None:
    body = f"import subprocess; subprocess.run(['sh', '-c', {BEAT!r}], cwd={str(desk.home / '.gemini')!r})"

    async def scene() -> None:
        task = asyncio.ensure_future(desk.agent(body).complete(request(), desk.texts.append))
        await first_beat(desk.home / ".gemini")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert alive_in(desk.folder) == []

    asyncio.run(scene())
    assert desk.calls[0]["status"] == "stopped"


def test_a_permanent_failure_is_reported_without_a_retry(desk: Desk) -> None:
    with pytest.raises(Misconfigured, match=r"it is not signed in \(no key\)"):
        desk.ask(desk.agent("print('no key', file=sys.stderr); sys.exit(41)"))


@pytest.mark.parametrize("line", ["", "   ", "gemini 'half"])
def test_a_command_line_that_names_nothing_is_refused(line: str) -> None:
    with pytest.raises(Misconfigured, match="the command line"):
        split_command(line)


@pytest.mark.parametrize("name", ["no-such-agent", "./agent", "/no/such/agent"])
def test_a_program_that_is_not_there_is_named(desk: Desk, name: str) -> None:
    agent = GeminiCli(name, BubblewrapSandbox(), ENV, desk.folder / "own")
    with pytest.raises(Misconfigured, match=f"there is no program '{name}'"):
        desk.ask(agent)


def test_a_program_that_does_not_start_will_not_start_the_next_time(desk: Desk) -> None:
    program = desk.folder / "agent"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    agent = GeminiCli(str(program), BubblewrapSandbox(), ENV, desk.folder / "own")
    with pytest.raises(Misconfigured, match="it does not start in the sandbox"):
        desk.ask(agent)


def test_a_path_with_detours_is_still_the_file_it_names(desk: Desk) -> None:
    agent = desk.agent("answer('Hello.')")
    agent._argv = (sys.executable, str(desk.folder / "home" / ".." / "agent.py"))
    assert desk.ask(agent).message.text == "Hello."


# ── access of an agent ───────────────────────────────────────────────────────────────────


def test_the_agent_sees_an_empty_folder_its_configuration_and_no_other_files(desk: Desk) -> None:
    project = desk.folder / "project"
    (project / ".interlock").mkdir(parents=True)
    (desk.home / "private").write_text("x")
    (desk.home / ".gemini" / "settings.json").write_text("{}")
    body = f"""
def tried(path):
    try:
        open(path, "w").write("x")
    except OSError as error:
        return error.strerror
answer(json.dumps([
    os.listdir("."),
    [os.path.exists(p) for p in ({str(project)!r}, os.path.expanduser("~/private"), {str(HERE)!r})],
    tried(os.path.expanduser("~/.gemini/oauth.json")),
    tried(os.path.expanduser("~/.gemini/settings.json")),
    os.path.exists("/etc/resolv.conf"),
]))
"""
    desk.ask(desk.agent("open('left', 'w'); answer('a')"))
    empty, exist, wrote, refused, network = json.loads(desk.ask(desk.agent(body)).message.text)
    assert (empty, exist) == ([], [False, False, False])
    assert (wrote, refused) == (None, "Read-only file system")
    assert network == Path("/etc/resolv.conf").exists()
    assert (desk.home / ".gemini" / "oauth.json").read_text() == "x"


def test_without_a_configuration_it_has_a_home_of_its_own_that_stays(tmp_path: Path) -> None:
    desk = Desk(tmp_path, configured=False)
    body = "p = os.path.expanduser('~/seen'); answer(str(os.path.exists(p))); open(p, 'w')"
    assert [desk.ask(desk.agent(body)).message.text for _ in range(2)] == ["False", "True"]
    assert list(desk.home.iterdir()) == []


def test_with_the_sandbox_off_it_is_not_run(desk: Desk) -> None:
    with pytest.raises(Misconfigured, match="nothing would hold them"):
        GeminiCli("gemini", UnconfinedSandbox(), ENV, desk.folder)


def test_every_call_is_logged(desk: Desk) -> None:
    desk.ask(desk.agent("print('debug', file=sys.stderr); answer('Hello.')"))
    (call,) = desk.calls

    assert call.pop("latency_ms") >= 0
    assert call == {
        "command": [sys.executable, str(desk.folder / "agent.py"), "--mine", "--output-format", "stream-json"],
        "tier": "Tier 3",
        "ticket": "T-1",
        "stdin": "Be good.\n\nDo it.",
        "stdout": '{"type": "message", "role": "assistant", "content": "Hello."}\n'
        '{"type": "result", "status": "success"}\n',
        "stderr": "debug\n",
        "status": "exited",
        "exit_code": 0,
    }
