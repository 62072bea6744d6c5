"""`interlock open` and `interlock sessions`: who may use the page of a running workbench."""

import os
import sys
from datetime import UTC, datetime
from html import escape
from io import StringIO

from interlock.api.page.sessions import Lifetimes, SessionFile, Sessions
from interlock.assembly.project import Project
from interlock.assembly.service import sessions_file
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE, wrong_usage
from interlock.cli.terminal.output import say, say_json, table, write_line
from interlock.cli.terminal.sessions import project_of
from interlock.client import ApiError, ApiHookClient, NotServing
from interlock.errors import Misconfigured, NotFound
from interlock.identity.careful import write_new
from interlock.sandbox.jobs.foreground import open_browser
from interlock.views.display import counted, one_line


class OpenArgs(CommandArgs, frozen=True):
    approve: bool
    print: bool
    qr: bool


class RevokeArgs(CommandArgs, frozen=True):
    id: str | None
    all: bool


def open_page(args: OpenArgs) -> int:
    """The approve token is read from the user's state folder, so only this user's own terminal can do it."""
    project = project_of(args)
    try:
        link = _client(project, approve=args.approve).make_link(approve=args.approve)
    except NotServing:
        raise Misconfigured("no workbench serves this project; start it with: interlock serve --page") from None
    except ApiError as error:
        raise Misconfigured(str(error)) from None
    if args.json:
        say_json(link)
        return DONE
    right = "look, drive and answer approvals" if args.approve else "look and drive, but not answer approvals"
    say(f"a browser with this link may {right}; it works once, for five minutes:")
    say(link["url"])
    if args.qr:
        write_line(_qr_code(link["url"]))
    elif not args.print and _has_display() and not open_browser(_doorway(project, link["url"])):
        say("no browser could be started; open the link yourself", sys.stderr)
    return DONE


def _doorway(project: Project, link: str) -> str:
    """The address of a private file that leads to the link.

    Every user of the machine can read the arguments of a browser's process; nobody else can read this file.
    """
    path = sessions_file(project).with_suffix(".html")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    write_new(path, f'<meta http-equiv="refresh" content="0; url={escape(link)}">\n'.encode())
    return path.as_uri()


def list_sessions(args: CommandArgs) -> int:
    project = project_of(args)
    try:
        rows = _client(project).list_sessions()
    except NotServing:
        sessions = _stored(project)
        rows = [
            {
                "id": session.id,
                "capability": "approve" if session.approves else "drive",
                "made_at": _time(session.made_at),
                "used_at": _time(session.used_at),
                "expires_at": _time(sessions.ends_at(session)),
                "browser": session.browser,
            }
            for session in sessions.live()
        ]
    except ApiError as error:
        raise Misconfigured(str(error)) from None
    if args.json:
        say_json(rows)
    elif not rows:
        say("no browser has a session of the page; open one with: interlock open")
    else:
        shown = [
            (row["id"], row["capability"], row["used_at"], row["expires_at"], one_line(row["browser"], 60))
            for row in rows
        ]
        table(("SESSION", "MAY", "LAST USE", "ENDS", "BROWSER"), shown)
    return DONE


def revoke_sessions(args: RevokeArgs) -> int:
    """Works also while nothing is served: sessions outlive a restart."""
    if args.all == (args.id is not None):
        return wrong_usage("sessions revoke: name one session, or --all", as_json=args.json)
    project = project_of(args)
    try:
        client = _client(project)
        ended = (client.revoke_sessions() if args.id is None else client.revoke_session(args.id))["revoked"]
    except NotServing:
        ended = _revoked(_stored(project), args.id)
    except ApiError as error:
        raise (NotFound if error.status == 404 else Misconfigured)(str(error)) from None
    if args.json:
        say_json({"revoked": list(ended)})
    else:
        say(f"{counted(len(ended), 'session')} ended")
    return DONE


def _revoked(sessions: Sessions, session: str | None) -> tuple[str, ...]:
    if session is None:
        return sessions.revoke_all()
    sessions.revoke(session)
    return (session,)


def _client(project: Project, *, approve: bool = False) -> ApiHookClient:
    return ApiHookClient(project.folder / "run" / "api.json", approve=approve)


def _stored(project: Project) -> Sessions:
    limits = project.settings.page
    times = Lifetimes(limits.idle_hours * 3_600, limits.most_hours * 3_600)
    return Sessions(SessionFile(sessions_file(project)), times)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _has_display() -> bool:
    names = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.stdout.isatty() and any(os.environ.get(name) for name in names)


def _qr_code(text: str) -> str:
    import segno

    drawn = StringIO()
    segno.make(text, error="l", micro=False).terminal(out=drawn, compact=True)
    return drawn.getvalue().rstrip("\n")
