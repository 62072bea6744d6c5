"""Which model the command line asks for."""

import sys
from typing import Any

from msgspec.structs import replace

from interlock.assembly.model_choice import ModelMaker, first_provider, make_model, model_warnings
from interlock.assembly.project import Project
from interlock.assembly.settings.settings import Models
from interlock.cli.terminal.output import paint, say
from interlock.errors import Misconfigured
from interlock.views.display import safe


def model_of(project: Project, args: Any) -> ModelMaker | None:
    if args.provider is None:
        if args.script:
            raise Misconfigured("--script goes with --provider scripted")
        settings = project.settings.provider
        chosen = first_provider(settings.name)
        return _warned(project, chosen, settings.model) if chosen else None
    if args.provider == "scripted" and not args.script:
        raise Misconfigured("--provider scripted needs --script FILE, the rules it answers by")
    if args.provider != "scripted" and args.script:
        raise Misconfigured("--script goes with --provider scripted")
    return _warned(project, args.provider, None, args.script)


def _warned(project: Project, provider: str, model: str | None, script: str | None = None) -> ModelMaker:
    made = make_model(project, provider, model, script=script)
    for words in model_warnings(project, provider, model):
        say(paint(safe(words), "waiting", sys.stderr), sys.stderr)
    return made


def with_choices(project: Project, args: Any) -> Project:
    """The command line's word counts over the settings': tool rounds for workers and discussions, a model for all."""
    settings = project.settings
    if args.max_tool_rounds is not None:
        rounds = args.max_tool_rounds
        conductor = replace(settings.conductor, max_tool_rounds=rounds, discussion_tool_rounds=rounds)
        settings = replace(settings, conductor=conductor)
    if args.model is not None:
        if not args.model.strip():
            raise Misconfigured("--model needs a name")
        settings = replace(settings, models=Models(*[args.model] * len(Models.__struct_fields__)))
    return replace(project, settings=settings)
