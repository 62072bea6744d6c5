"""A summary of the repository for planners: its paths, and the skeletons of as many files as fit."""

import asyncio
import posixpath
import re
from collections.abc import Callable

from interlock.domain.values.markdown import fenced
from interlock.engine.planning.briefing import FROM_THE_REPOSITORY
from interlock.engine.planning.follow_links import follow_links
from interlock.ports.tools import CodeViews
from interlock.ports.workspaces import Survey, Workspaces
from interlock.views.display import counted, quoted_path

MOST_TEXT = 120_000  # characters of skeletons
MOST_FILES = 400  # with skeletons
MOST_SIZE = 400_000  # bytes of a file; larger files are skipped
MOST_PATHS = 2_000
MOST_INSTRUCTIONS = 40_000

_CODE = tuple(
    ".py .pyi .js .jsx .mjs .cjs .ts .tsx .go .rs .c .h .cc .cpp .hpp .java .cs .rb .php .sh .bash .toml".split()  # noqa: SIM905
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


class Surveyor:
    def __init__(self, workspaces: Workspaces, views: CodeViews) -> None:
        self._workspaces = workspaces
        self._views = views

    async def listing(self) -> str:
        """The repository's paths, or its folders with counts if there are too many."""
        survey = await self._workspaces.survey()
        return listed(survey.files)

    async def project_context(self) -> str:
        """The project's instructions and paths: the context of a discussion."""
        survey = await self._workspaces.survey()
        blocks: list[str] = []
        for name in ("AGENTS.md", "CLAUDE.md"):
            if name not in survey.files:
                continue
            file = await follow_links(self._workspaces.read, survey.commit, name)
            if file.content is not None and not self._views.is_secret(file.path):
                text = file.content.decode(errors="replace")[:MOST_INSTRUCTIONS]
                blocks.append(f"### INSTRUCTIONS OF THE PROJECT ({name}):\n{FROM_THE_REPOSITORY}\n{fenced(text)}")
                break
        blocks.append(f"### REPOSITORY:\n{listed(survey.files)}")
        return "\n\n".join(blocks)

    async def skeletons(self, brief: str) -> str:
        """Files that the brief names come first, then files nearest to the root."""
        survey = await self._workspaces.survey()
        blocks: list[str] = []
        size, left_out = 0, 0
        for path in ranked(survey, brief, self._views.is_secret):
            if len(blocks) >= MOST_FILES or size >= MOST_TEXT:
                left_out += 1
                continue
            content = await self._workspaces.read(survey.commit, path)
            if not isinstance(content, bytes) or len(content) > MOST_SIZE:  # a link's target is listed itself
                continue
            text = await asyncio.to_thread(self._views.skeleton, path, content)
            block = f"#### {quoted_path(path)}\n{fenced(text)}"
            if size + len(block) > MOST_TEXT:
                left_out += 1
                continue
            blocks.append(block)
            size += len(block)
        if left_out:
            blocks.append(f"(not shown: {counted(left_out, 'more file')})")
        return "\n\n".join(blocks) or "(there is no code yet)"


def ranked(survey: Survey, brief: str, is_secret: Callable[[str], bool]) -> list[str]:
    """Paths of code files that hold no secrets, the most relevant first."""
    words = {word.lower() for word in _WORD.findall(brief)}

    def place(path: str) -> tuple[int, int, str]:
        stem = posixpath.splitext(posixpath.basename(path))[0].lower()
        named = path in brief or stem in words
        return (0 if named else 1, path.count("/"), path)

    code = [path for path in survey.files if path.lower().endswith(_CODE) and not is_secret(path)]
    return sorted(code, key=place)


def listed(files: tuple[str, ...]) -> str:
    if len(files) <= MOST_PATHS:
        return "\n".join(map(quoted_path, files)) or "(the repository is empty)"
    folders: dict[str, int] = {}
    for path in files:
        folder = "/".join(path.split("/")[:-1][:3]) or "."
        folders[folder] = folders.get(folder, 0) + 1
    shown = [f"{quoted_path(folder)}/ ({counted(count, 'file')})" for folder, count in sorted(folders.items())][
        :MOST_PATHS
    ]
    return "\n".join(shown)
