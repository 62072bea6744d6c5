"""The effect of a script on the user's own files, found by running it where nothing of it lasts."""

from typing import Literal

from msgspec import Struct

from interlock.domain.values.gates import Blob

EffectKind = Literal["added", "modified", "deleted", "mode", "link", "time"]


class EffectFile(Struct, frozen=True, gc=False, omit_defaults=True):
    """A path that a script changes."""

    path: str
    change: EffectKind
    added: int = 0  # lines
    removed: int = 0
    detail: str = ""  # such as `0644 → 0755`, or the target of a link


class ScriptEffect(Struct, frozen=True, gc=False, omit_defaults=True):
    """What approving a script would do. `unknown` is the reason why it could not be found beforehand."""

    digest: str = ""  # of the exact changes; approving makes these and no others
    files: tuple[EffectFile, ...] = ()
    more: int = 0  # further changed paths that are not listed
    diff: str = ""
    diff_blob: Blob | None = None
    ended: str = ""  # how the script ended
    unknown: str = ""

    @property
    def summary(self) -> str:
        """One sentence for the approval."""
        if self.unknown:
            return f"its effect cannot be shown beforehand: {self.unknown}"
        number = len(self.files) + self.more
        if not number:
            return "it changes no file"
        return f"approving makes exactly these changes ({number} path{'s' if number > 1 else ''}), if they still fit"

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each path."""
        rows = [_line(file) for file in self.files]
        return (*rows, f"… and {self.more:,} more") if self.more else tuple(rows)


def _line(file: EffectFile) -> str:
    counts = f" +{file.added} -{file.removed}" if file.added or file.removed else ""
    return f"{file.change:<8} {file.path}{counts}{f'  ({file.detail})' if file.detail else ''}"
