"""The tools on the project's own files, for the command line."""

import os
from functools import partial

import msgspec

from interlock.assembly.environment import explained, services_beside, stable_env
from interlock.assembly.project import Project, hidden_folders, limits_of, plain_git
from interlock.assembly.secrets.redaction import redactor
from interlock.assembly.tools.web import web_of
from interlock.client import ApiError, ApiHookClient
from interlock.codeviews.python.structure import PythonStructure
from interlock.ports.processes import Sandbox
from interlock.ports.tools import ToolOutcome, ToolPlace
from interlock.sandbox.levels.choose import choose
from interlock.tools.catalogue import UiFigures
from interlock.tools.registry import WorkerTools


def own_tools(project: Project, sandbox: Sandbox) -> WorkerTools:
    """As a discussion has them."""
    return WorkerTools(
        sandbox,
        stable_env(),
        PythonStructure(),
        project.names,
        off=project.settings.tools.off,
        services=services_beside(project.settings.workspace, sandbox),
        explain=partial(explained, project),
        web=web_of(project.settings),
        figures=partial(_figures_elsewhere, project),
    )


def _figures_elsewhere(project: Project) -> UiFigures:
    """The figures of a window in another process, if that serves HTTP; else null."""
    try:
        client = ApiHookClient(project.folder / "run" / "api.json", timeout_s=2)
        return msgspec.convert(client.get_performance(), UiFigures)
    except (ApiError, OSError, msgspec.ValidationError):
        return UiFigures()


async def listed_tools(project: Project) -> WorkerTools:
    """The tools, to look at: they start no program."""
    return own_tools(project, await plain_git())


async def read_with(project: Project, name: str, args: dict[str, object]) -> ToolOutcome:
    """Runs a tool that changes nothing. Secrets in its result are replaced by marks, as for a model."""
    sandbox = await choose(project.settings.sandbox, hidden_folders(project), limits_of(project.settings))
    outcome = await own_tools(project, sandbox).run(ToolPlace(str(project.root)), name, args)
    return ToolOutcome(redactor(os.environ)(outcome.text), outcome.failed)
