"""Journals with pending approvals of every kind, for the page."""

from hashlib import sha256

from interlock.domain.messages.envelopes import SYSTEM, Recorded
from interlock.domain.messages.events.approval_events import ApprovalRequested
from interlock.domain.messages.events.epic_events import EpicAdded, TracksProposed
from interlock.domain.messages.events.event import Event
from interlock.domain.messages.events.track_events import TrackAdded
from interlock.domain.review.changed_files import files_of
from interlock.domain.values.approvals import (
    GatePayload,
    Kind,
    MergePayload,
    Payload,
    ReviewPayload,
    ScriptPayload,
    SpawnPayload,
    StepPayload,
    ToolPayload,
    TracksPayload,
    UnknownPayload,
    digest,
)
from interlock.domain.values.epics import TrackPlan
from interlock.journal.memory import MemoryJournal

AT = "2026-01-01T10:10:50.000000Z"
ARGUMENTS = '{"path": "a.py", "edit": "new"}'
TOOL_DIFF = "a.py [1] @@ -1,2 +1,2 @@ def a\n keep\n-old\n+new\na.py [2] @@ -9,1 +9,2 @@\n keep\n+more\n"
GIT = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@ def a
 keep
-the old words
+the new words
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
"""


def long_diff(lines: int, files: int = 1) -> str:
    """A diff in git's format with this many changed lines."""
    each = lines // files
    parts: list[str] = []
    for number in range(files):
        name = f"src/file{number}.py"
        body = "".join(f"+line {at} of the new file, with some words to read\n" for at in range(each))
        parts.append(f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n")
        parts.append(f"@@ -0,0 +1,{each} @@\n{body}")
    return "".join(parts)


def review(diff: str, parts: int, words: str = "make") -> ReviewPayload:
    return ReviewPayload("b", "c", "t" * 40, diff, files=files_of(diff), summary=words, ran=(words,), parts=parts)


def payloads(words: str = "make") -> dict[Kind, Payload]:
    """One of every kind, with the words wherever a model, a tool or a repository could have written them."""
    told = sha256(ARGUMENTS.encode()).hexdigest()
    return {
        "script": ScriptPayload(f"{words}\nmore", "/work/project", ("PATH",), "bubblewrap"),
        "tool": ToolPayload("c", "edit_file", ARGUMENTS, told, f"Edit {words}", 2, TOOL_DIFF, "/work/project"),
        "step": StepPayload(words, "shell", words, (words,)),
        "spawn": SpawnPayload("tier3-worker", "m", words, words),
        "ask": ToolPayload("c", "fetch", ARGUMENTS, told, words, 0, "", "/work/project"),
        "tracks": TracksPayload("E-1", words, (TrackPlan("planned", words, words),)),
        "gate": GatePayload(0, words, 5, 5, words),
        "merge": MergePayload("main", "0" * 40, "1" * 40, GIT, files=files_of(GIT), parts=2, tree="t" * 40),
        "unknown": UnknownPayload(words, words),
        "review": review(GIT, 2, words),
    }


class Story:
    """A journal in memory that a test fills before it is served."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.asked = 0
        self.add(TrackAdded("demo", "Demo", ""), EpicAdded("E-1", "an epic"))

    def add(self, *events: Event) -> None:
        version = self.journal.head().version
        self.journal.append([Recorded(version + at, AT, SYSTEM, "s", event) for at, event in enumerate(events, 1)])

    def ask(
        self, kind: Kind, payload: Payload, why: str = "the policy asks", track: str = "demo", ticket: str | None = None
    ) -> str:
        """Another track than `demo` is added first, unless the request is of one of its tickets."""
        self.asked += 1
        if track != "demo" and ticket is None:
            self.add(TrackAdded(track, track, ""))
        if kind == "tracks" and isinstance(payload, TracksPayload):
            self.add(TracksProposed("E-1", payload.tracks))
        name = f"A-{self.asked}"
        asker = "program:agent" if kind == "ask" else "worker:T-1/1"
        request = ApprovalRequested(
            name,
            kind=kind,
            asker=asker,
            track=track,
            ticket=ticket,
            why=why,
            payload=payload,
            digest=digest(payload),
        )
        self.add(request)
        return name

    def ask_all(self, words: str = "make") -> dict[str, str]:
        """The ids by kind."""
        return {kind: self.ask(kind, payload, words) for kind, payload in payloads(words).items()}
