"""The model that the command-line options and the settings select."""

import sys

from msgspec.structs import replace

from interlock.assembly.cli_agents import profiles_of
from interlock.assembly.model_choice import ModelMaker, first_provider, make_model, model_warnings
from interlock.assembly.project import Project, unused_settings
from interlock.assembly.settings.settings import Models
from interlock.cli.arguments import ModelArgs
from interlock.cli.terminal.output import paint, say
from interlock.domain.values.tickets import AGENT
from interlock.errors import Misconfigured
from interlock.views.display import safe


def model_of(project: Project, args: ModelArgs) -> ModelMaker | None:
    if args.provider is None:
        if args.script:
            raise Misconfigured("--script goes with --provider scripted")
        settings = project.settings.provider
        chosen = first_provider(settings.name)
        return _with_warnings(project, chosen, settings.model) if chosen else None
    if args.provider == "scripted" and not args.script:
        raise Misconfigured("--provider scripted needs --script FILE, the rules of its answers")
    if args.provider != "scripted" and args.script:
        raise Misconfigured("--script goes with --provider scripted")
    return _with_warnings(project, args.provider, None, args.script)


def _with_warnings(project: Project, provider: str, model: str | None, script: str | None = None) -> ModelMaker:
    maker = make_model(project, provider, model, script=script)
    for warning in model_warnings(project, provider, model):
        say(paint(safe(warning), "waiting", sys.stderr), sys.stderr)
    return maker


def with_choices(project: Project, args: ModelArgs) -> Project:
    """Command-line options override settings: tool rounds for workers and discussions, the model for all tiers."""
    note_unused_settings(project)
    project = with_tool_rounds(project, args.max_tool_rounds)
    models = project.settings.models
    if args.model is not None:
        if not args.model.strip():
            raise Misconfigured("--model needs a name")
        models = Models(*[args.model] * len(Models.__struct_fields__))
    return with_agent(replace(project, settings=replace(project.settings, models=models)), args)


def with_agent(project: Project, args: ModelArgs) -> Project:
    """The agent does the tickets. Without a model it plans, too."""
    if args.agent is None:
        return project
    known = profiles_of(project.settings.agents)
    if args.agent not in known:
        raise Misconfigured(f"there is no agent {args.agent!r}; known are {', '.join(known)}")
    name, models = f"{AGENT}{args.agent}", project.settings.models
    alone = args.provider is None and first_provider(project.settings.provider.name) is None
    planning = dict.fromkeys(("tier1", "tier2", "tier4"), name) if alone and known[args.agent].supervised else {}
    models = replace(models, tier3=name, **planning)
    return replace(project, settings=replace(project.settings, models=models))


def note_unused_settings(project: Project) -> None:
    if note := unused_settings(project):
        say(paint(safe(note), "waiting", sys.stderr), sys.stderr)


def with_tool_rounds(project: Project, rounds: int | None) -> Project:
    if rounds is None:
        return project
    settings = project.settings
    conductor = replace(settings.conductor, max_tool_rounds=rounds, discussion_tool_rounds=rounds)
    return replace(project, settings=replace(settings, conductor=conductor))
