"""Reads files of a commit."""

from interlock.ports.processes import Output
from interlock.ports.workspaces import Link
from interlock.workspaces.git import Git, shown

_LONGEST_LINK = 4_096


async def committed(git: Git, commit: str, path: str) -> tuple[bytes | Link | None, Output]:
    """The entry at a path from the top of the repository, and git's output."""
    output = await git("cat-file", "blob", f"{commit}:{path}", ok=(0, 128))
    content = output.stdout
    if output.code != 0:
        return None, output
    # git stores a link as a file with a path; only its mode differs. The mode is read only for contents like a path.
    if 0 < len(content) < _LONGEST_LINK and b"\n" not in content and b"\0" not in content:
        listed = await git("ls-tree", "-z", "--full-tree", commit, f":(literal){path}", ok=(0, 128))
        if listed.stdout.startswith(b"120000 "):
            return Link(shown(content)), output
    return content, output
