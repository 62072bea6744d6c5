"""`interlock serve`: the workbench without a window, with its HTTP API."""

import sys

from interlock.assembly.build import conducting
from interlock.assembly.service import ModelSelection, Service, approve_file
from interlock.cli.arguments import ModelArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.model_choices import note_unused_settings, with_agent, with_tool_rounds
from interlock.cli.terminal.output import paint, say, say_json_line, warn_sandbox_off
from interlock.cli.terminal.sessions import actor, project_of
from interlock.cli.terminal.signals import end_in_order, held
from interlock.domain.values.autonomy import Autonomy
from interlock.errors import JournalInUse, Misconfigured


class ServeArgs(ModelArgs, frozen=True):
    json: bool
    port: int
    page: bool
    public_url: str | None
    test_policy: bool
    auto_queue: bool
    workers: int | None
    autonomy: Autonomy | None


def serve(args: ServeArgs) -> int:
    end_in_order()
    project = with_agent(with_tool_rounds(project_of(args), args.max_tool_rounds), args)
    note_unused_settings(project)
    if args.script and args.provider != "scripted":
        raise Misconfigured("--script goes with --provider scripted")
    if args.public_url is not None and not args.page:
        raise Misconfigured("--public-url goes with --page")
    conduct = conducting(
        project, auto_queue=args.auto_queue, approve_all=False, workers=args.workers, autonomy=args.autonomy
    )
    choice = ModelSelection(args.provider or "", args.model or "", args.script or "")
    service = Service(project, conduct, choice, actor(), test_policy=args.test_policy)
    reason = "the workbench was closed"
    try:
        try:
            opened = service.open()
        except JournalInUse as busy:
            raise JournalInUse(
                f"{busy}; end that first ('interlock serve' holds the project it serves)", busy.pid
            ) from None
        with held():  # it imports the server
            port = opened.serve_http(args.port, page=args.page, public=args.public_url)
        url = f"http://127.0.0.1:{port}"
        files = {"api_file": str(project.folder / "run" / "api.json"), "approve_file": str(approve_file(project))}
        if args.json:
            facts = {"url": url, "port": port, "project": str(project.root), "sandbox": opened.sandbox_level, **files}
            say_json_line(facts)
        else:
            say(f"serving {project.root} at {url}")
            say(f"  token for driving: {files['api_file']}; token for answering approvals: {files['approve_file']}")
            say("  API description: GET /openapi.json; from Python: interlock.client.ApiHookClient()")
            if args.page:
                say("  the page: interlock open, or with the right to answer approvals: interlock open --approve")
            say("  in another terminal: interlock approvals list; Ctrl-C stops the server")
        if opened.sandbox_level == "off":
            warn_sandbox_off()
        if args.test_policy:
            say(paint("TEST POLICY: the drive token may answer approvals.", "bad", sys.stderr), sys.stderr)
        sys.stdout.flush()
        opened.wait()
    except KeyboardInterrupt:
        reason = "interrupted"
    finally:
        service.stop(reason)
    if not args.json:
        say("ended; everything is in the journal")
    return DONE
