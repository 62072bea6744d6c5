"""`interlock ask-hook` with the JSON that Claude Code, Codex and Gemini CLI give their hooks."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from interlock.client import ApiHookClient
from tests.cli.project import Project
from tests.cli.serving import Serving, finished, hook, serving

CLAUDE = {
    "session_id": "0d5c1a", "transcript_path": "/tmp/t.jsonl", "permission_mode": "default", "tool_use_id": "toolu_01",
    "tool_name": "Bash", "tool_input": {"command": "git push", "description": "Push it"},
}  # fmt: skip
CODEX = {
    "session_id": "0198", "turn_id": "7", "transcript_path": None, "model": "a-model", "permission_mode": "default",
    "tool_use_id": "call_1", "tool_name": "Bash", "tool_input": {"command": "git push"},
}  # fmt: skip
GEMINI = {
    "session_id": "9f", "transcript_path": "/tmp/t.json", "timestamp": "2026-02-03T04:05:06Z",
    "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
    "tool_input": {"command": "git push", "dir_path": "."},
}  # fmt: skip
PRE, PERMISSION = {"hook_event_name": "PreToolUse"}, {"hook_event_name": "PermissionRequest"}
HOOKS: dict[str, dict[str, Any]] = {
    "claude": CLAUDE | PRE,
    "claude permission": CLAUDE | PERMISSION,
    "codex": CODEX | PRE,
    "codex permission": CODEX | PERMISSION,
    "gemini": GEMINI,
}


def pre(decision: str, reason: str, **more: Any) -> dict[str, Any]:
    result = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {**result, **more}}


def permission(**decision: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}


YES = "approved in Interlock"
ALLOWED: dict[str, Any] = {
    "claude": pre("allow", YES),
    "claude permission": permission(behavior="allow"),
    "codex": None,
    "codex permission": permission(behavior="allow"),
    "gemini": {"decision": "allow", "reason": YES},
}


def denied(agent: str, reason: str) -> Any:
    if "permission" in agent:
        return permission(behavior="deny", message=reason)
    return {"decision": "deny", "reason": reason} if agent == "gemini" else pre("deny", reason)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for all tests: each question is answered or withdrawn before the next."""
    with serving(Project(tmp_path_factory.mktemp("hooks"))) as server:
        yield server


def asked(person: ApiHookClient) -> dict[str, Any]:
    """The only pending approval."""
    assert person.wait_until(lambda: len(person.list_approvals()) == 1, 60)
    (approval,) = person.list_approvals()
    return approval


def answered(bench: Serving, given: object, decision: Any, *words: str, **more: Any) -> tuple[int, Any, str]:
    process = hook(bench.project, given, *words)
    person = bench.client(approve=True)
    person.answer(asked(person)["id"], decision, **more)
    return finished(process)


@pytest.mark.parametrize("agent", HOOKS)
def test_each_agent_gets_allow_and_deny_in_its_own_format(bench: Serving, agent: str) -> None:
    given = HOOKS[agent] | {"cwd": str(bench.project.root)}
    assert answered(bench, given, "approve") == (0, ALLOWED[agent], "")
    assert answered(bench, given, "reject", message="not today") == (0, denied(agent, "not today"), "")
    assert answered(bench, given, "reject") == (0, denied(agent, "a person rejected it"), "")
    first = bench.client().list_approvals("all")[-1]
    assert (first["asker"], first["payload"]["directory"]) == (
        f"program:{agent.split()[0]}",
        str(bench.project.root),
    )
    assert json.loads(first["payload"]["arguments"]) == given["tool_input"]


@pytest.mark.parametrize("agent", HOOKS)
def test_a_blank_reason_is_still_a_reason(bench: Serving, agent: str) -> None:
    """Codex takes a denial without a reason for a broken hook, and runs the tool."""
    assert answered(bench, HOOKS[agent], "reject", message=" \t")[1] == denied(agent, "a person rejected it")


@pytest.mark.parametrize("agent", HOOKS)
def test_edited_arguments_are_run_or_the_call_is_denied(bench: Serving, agent: str) -> None:
    new = HOOKS[agent]["tool_input"] | {"command": "git status"}
    code, result, _ = answered(bench, HOOKS[agent], "approve", edits={"arguments": new})
    why = "a person changed the arguments"
    expected: dict[str, Any] = {
        "claude": pre("allow", why, updatedInput=new),
        "claude permission": permission(behavior="allow", updatedInput=new),
        "codex": pre("allow", why, updatedInput=new),
        "codex permission": denied(agent, f"{why}: call Bash again, with exactly these: {json.dumps(new)}"),
        "gemini": {
            "decision": "allow",
            "reason": why,
            "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": new},
        },
    }
    assert (code, result) == (0, expected[agent])


def test_gemini_lays_new_arguments_over_its_own_so_none_can_be_taken_away(bench: Serving) -> None:
    new = {"command": "git status"}
    code, result, _ = answered(bench, GEMINI, "approve", edits={"arguments": new})
    words = "a person changed the arguments: call run_shell_command again, with exactly these"
    assert (code, result) == (0, denied("gemini", f"{words}: {json.dumps(new)}"))


def test_the_agent_can_be_named(bench: Serving) -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert answered(bench, given, "approve", "--agent", "gemini")[1] == ALLOWED["gemini"]
    assert answered(bench, given, "approve", "--agent", "codex") == (0, None, "")


def test_a_deadline_that_passes_is_a_no(bench: Serving) -> None:
    code, result, _ = finished(hook(bench.project, HOOKS["claude"], "--deadline", "0.2"))
    assert (code, result["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")
    assert "deadline" in result["hookSpecificOutput"]["permissionDecisionReason"]


@pytest.mark.parametrize("agent", HOOKS)
def test_without_a_workbench_the_hook_denies(project: Project, agent: str) -> None:
    code, result, err = finished(hook(project, HOOKS[agent]))
    assert (code, err) == (0, "")
    reason = json.dumps(result)
    assert "Interlock could not ask: no .interlock/run/ask.json" in reason
    assert ("deny" in reason, "allow" in reason) == (True, False)


def test_a_workbench_that_ends_denies_its_pending_asks(project: Project) -> None:
    with serving(project) as bench:
        process = hook(project, HOOKS["claude"])
        asked(bench.client())
        bench.client().shutdown()
        code, result, _ = finished(process)
        assert (code, result) == (0, denied("claude", "the workbench is ending; the ask was not answered"))
        bench.ended()


def test_an_agent_that_gives_up_takes_the_question_along(bench: Serving) -> None:
    process = hook(bench.project, HOOKS["gemini"])
    person = bench.client(approve=True)
    approval = asked(person)["id"]
    process.terminate()
    process.communicate()
    assert person.wait_until(lambda: person.list_approvals() == [], 30)
    assert person.get_approval(approval)["state"] == "withdrawn"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        '{"tool_name": 7}',
        '{"tool_name": "T", "hook_event_name": "PreToolUse", "tool_input": "rm"}',
        '{"tool_name": "T", "hook_event_name": "PreToolUse", "tool_input": null}',
        '{"tool_name": "T", "tool_input": {}}',
        '{"tool_name": "T", "hook_event_name": "PostToolUse", "tool_input": {}}',
        '{"tool_name": "T", "hook_event_name": "PreToolUse", "cwd": "/a\\u0000b", "tool_input": {}}',
        '{"tool_name": "T", "hook_event_name": "PreToolUse", "tool_input": ' + '{"a":' * 50_000 + "1" + "}" * 50_001,
    ],
)
def test_input_that_cannot_be_read_blocks_with_every_agent(project: Project, given: str) -> None:
    """Exit code 2 and a message on stderr: after any other failure the agent runs the tool."""
    code, result, err = finished(hook(project, given))
    assert (code, result) == (2, None)
    assert err.startswith("Interlock denies the tool: ")
    assert (err.count("\n"), "Traceback" in err) == (1, False)


def test_an_answer_that_the_agent_does_not_read_is_no_success(bench: Serving) -> None:
    process = hook(bench.project, HOOKS["claude"])
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    person = bench.client(approve=True)
    person.answer(asked(person)["id"], "approve")
    process.communicate(timeout=60)
    assert process.returncode == 2


def test_big_arguments_are_asked_about_and_allowed_unchanged(bench: Serving) -> None:
    given = HOOKS["codex"] | {"tool_input": {"command": "x" * 3_000_000}}
    assert answered(bench, given, "approve") == (0, None, "")
    approval = bench.client().list_approvals("all")[-1]
    assert "3,000,0" in approval["payload"]["arguments"], "shown by its size, kept whole beside the journal"


def test_oversized_arguments_are_denied_quickly(bench: Serving) -> None:
    before = bench.client().list_approvals("all")
    code, result, _ = finished(hook(bench.project, HOOKS["gemini"] | {"tool_input": {"a": "x" * (65 * 1024 * 1024)}}))
    assert (code, result["decision"]) == (0, "deny")
    assert bench.client().list_approvals("all") == before


@pytest.mark.parametrize(
    "name", ["\x1b[2J\x1b]0;owned\x07Bash", "a\nb: approved", "\u202efdp.exe", "../../etc", "é🙂" * 50], ids=ascii
)
def test_hostile_names_are_asked_about_harmlessly(bench: Serving, name: str) -> None:
    process = hook(bench.project, HOOKS["claude"] | {"tool_name": name})
    person = bench.client(approve=True)
    approval = asked(person)
    assert approval["payload"]["tool"] == name
    shown = bench.project.run("approvals", "list").out + bench.project.run("approvals", "show", approval["id"]).out
    assert [sign for sign in ("\x1b", "\x07", "\u202e", "\nb: approved") if sign in shown] == []
    person.answer(approval["id"], "approve")
    assert finished(process) == (0, ALLOWED["claude"], "")


@pytest.mark.parametrize("name", ["x" * 201, " ", "", "\ud800"], ids=ascii)
def test_names_that_are_none_are_a_no(bench: Serving, name: str) -> None:
    code, result, _ = finished(hook(bench.project, HOOKS["claude"] | {"tool_name": name}))
    assert (code, result["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")


def test_arguments_that_are_not_utf8_are_denied(bench: Serving) -> None:
    given = HOOKS["claude"] | {"tool_input": {"command": "\ud800"}}
    code, result, _ = finished(hook(bench.project, given))
    assert (code, result["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")


def test_another_server_on_the_port_never_gets_the_token(project: Project) -> None:
    """The server must first prove that it knows the token."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def listen() -> None:
            while True:
                try:
                    talk, _ = stranger.accept()
                except OSError:
                    return
                with talk:
                    received.append(talk.recv(65536))
                    talk.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"ok"}')

        threading.Thread(target=listen, daemon=True).start()
        url = f"http://127.0.0.1:{stranger.getsockname()[1]}"
        env = {"INTERLOCK_ASK_URL": url, "INTERLOCK_ASK_TOKEN": "a-secret-token"}
        code, result, _ = finished(hook(project, HOOKS["claude"], **env))
    assert code == 0
    assert "is not the workbench" in result["hookSpecificOutput"]["permissionDecisionReason"]
    assert received
    assert all(b"a-secret-token" not in each for each in received)
