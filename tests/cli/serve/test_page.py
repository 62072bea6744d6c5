"""`interlock serve --page`, `open`, `sessions` and `tunnel` as processes."""

import http.client
import json
import os
import pty
import re
import shlex
import subprocess
from typing import Any

import pytest

from tests.cli.project import Project
from tests.cli.serving import Serving, serving


def opened(bench: Serving, url: str) -> dict[str, Any]:
    """What a browser does with a link: the session, with its cookie."""
    origin, _, secret = url.partition("/#link=")
    assert origin == f"http://127.0.0.1:{bench.port}"
    headers = {"Content-Type": "application/json", "Origin": origin}
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
    connection.request("POST", "/api/sessions", json.dumps({"link": secret}), headers)
    reply = connection.getresponse()
    content: dict[str, Any] = json.loads(reply.read())
    cookie = (reply.getheader("Set-Cookie") or "").partition(";")[0]
    connection.close()
    return {**content, "status": reply.status, "cookie": cookie}


def status_of(bench: Serving, session: dict[str, Any], path: str = "/api/overview") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=30)
    headers = {"Authorization": f"Bearer {session['token']}", "Cookie": session["cookie"]}
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_link_opens_a_session_that_outlives_a_restart_and_is_revoked(project: Project) -> None:
    with serving(project, "--page") as bench:
        link = project.run("open", "--approve", "--json").json
        assert link["capability"] == "approve"
        session = opened(bench, link["url"])
        assert (session["status"], session["capability"]) == (200, "approve")
        assert opened(bench, link["url"])["status"] == 409
        assert status_of(bench, session) == 200
        printed = project.run("open", "--print", "--qr")
        assert "look and drive, but not answer approvals" in printed.out
        assert "█" in printed.out
        weak = opened(bench, next(line for line in printed.out.splitlines() if line.startswith("http")))
        assert weak["capability"] == "drive"
        rows = project.run("sessions", "list", "--json").json
        assert [(row["id"], row["capability"]) for row in rows] == [(session["id"], "approve"), (weak["id"], "drive")]
        assert session["token"] not in str(rows)
        bench.kill()
    assert [row["id"] for row in project.run("sessions", "list", "--json").json] == [session["id"], weak["id"]]
    assert project.run("sessions", "revoke", weak["id"], "--json").json == {"revoked": [weak["id"]]}
    with serving(project, "--page") as bench:
        assert (status_of(bench, session), status_of(bench, weak)) == (200, 401)
        assert project.run("sessions", "revoke", "--all").out == "1 session ended\n"
        assert status_of(bench, session) == 401
        assert project.run("sessions", "list").out.startswith("no browser has a session")


def refused(project: Project, *words: str, code: int = 1) -> str:
    result = project.run(*words)
    assert result.code == code, result
    return result.err


def test_without_a_page_open_says_how_to_serve_one(project: Project) -> None:
    assert "interlock serve --page" in refused(project, "open")
    with serving(project):
        assert "interlock serve --page" in refused(project, "open")
        assert "interlock serve --page" in refused(project, "sessions", "list")


@pytest.mark.parametrize("words", [("revoke",), ("revoke", "x", "--all")])
def test_one_session_is_named_or_all(project: Project, words: tuple[str, ...]) -> None:
    assert "name one session, or --all" in refused(project, "sessions", *words, code=2)


def test_an_unknown_session_is_not_found(project: Project) -> None:
    assert "no session 'x'" in refused(project, "sessions", "revoke", "x")


def test_a_public_address_goes_with_the_page_and_is_one(project: Project) -> None:
    assert "goes with --page" in refused(project, "serve", "--public-url", "https://a.example")
    words = refused(project, "serve", "--page", "--port", "0", "--public-url", "http://a.example")
    assert "must be https://NAME" in words


def test_a_browser_is_started_without_the_link_in_its_arguments(project: Project) -> None:
    browser, shown = project.home / "browser", project.home / "shown"
    quoted = shlex.quote(str(shown))
    browser.write_text(
        f'#!/bin/sh\necho "$1" > {quoted}\nstat -c %a "${{1#file://}}" >> {quoted}\ncat "${{1#file://}}" >> {quoted}\n'
    )
    browser.chmod(0o755)
    with serving(project, "--page"):
        ours, theirs = pty.openpty()
        env = {**project.env, "BROWSER": str(browser)}
        done = subprocess.run(project.argv("open"), cwd=project.root, env=env, stdout=theirs, timeout=60, check=False)
        os.close(theirs)
        said = os.read(ours, 4_096).decode()
        os.close(ours)
    assert (done.returncode, "it works once" in said) == (0, True)
    address, mode, content = shown.read_text().splitlines()
    assert (address.startswith("file:///"), mode) == (True, "600")
    (link,) = re.findall(r"http://127\.0\.0\.1:\d+/#link=[\w-]+", content)
    assert link in said


def test_the_tunnel_is_printed_with_the_same_port_on_both_sides(project: Project) -> None:
    words = shlex.split(project.run("tunnel", "ann@build.example.org", "--port", "9001").out)
    assert words == [
        *("ssh", "-N", "-o", "ExitOnForwardFailure=yes"),
        *("-L", "127.0.0.1:9001:127.0.0.1:9001", "--", "ann@build.example.org"),
    ]


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "a b", "", "a;b"])
def test_a_host_that_could_be_something_else_is_refused(project: Project, host: str) -> None:
    assert "HOST must be" in refused(project, "tunnel", "--", host)


def test_the_tunnel_runs_ssh(project: Project) -> None:
    ssh = project.home / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text('#!/bin/sh\necho "ran with $*"\n')
    ssh.chmod(0o755)
    project.env["PATH"] = f"{ssh.parent}:{project.env['PATH']}"
    result = project.run("tunnel", "build.example.org", "--run")
    assert (result.code, "ran with -N" in result.out, "interlock open" in result.out) == (0, True, True)
