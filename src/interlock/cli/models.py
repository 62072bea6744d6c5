"""Which model the command line asks for."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import scripted_model
from interlock.errors import Misconfigured
from interlock.ports import Model
from interlock.projects import Project


def model_of(args: Any) -> Model | None:
    if args.provider is None:
        if args.script:
            raise Misconfigured("--script goes with --provider scripted")
        return None
    if not args.script:
        raise Misconfigured("--provider scripted needs --script FILE, the rules it answers by")
    return scripted_model(Path(args.script))


def with_rounds(project: Project, rounds: int | None) -> Project:
    """The command line's word counts over the settings', for workers and for discussions."""
    settings = project.settings
    if rounds is None:
        return project
    conductor = replace(settings.conductor, max_tool_rounds=rounds, discussion_tool_rounds=rounds)
    return replace(project, settings=replace(settings, conductor=conductor))
