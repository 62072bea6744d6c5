import os
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.domain.reading.gate_clause import Criteria
from interlock.domain.values.gates import Gate
from interlock.errors import Misconfigured, Rejected
from interlock.library.library import MOST, Entry, GateEntry, Library, with_args

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "project", tmp_path / "user")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_prompt_has_a_title_a_description_and_a_text(library: Library, write: Write) -> None:
    file = write(
        "project/prompts/review.md",
        "---\n# for people\ntitle: Review: carefully # really\n\ndescription: 'Looks \"twice\"'\n---\n"
        "\nRead {{args}}.\n---\nx\n",
    )
    assert library.prompt("review") == Entry(
        "review", "Read {{args}}.\n---\nx", "Review: carefully # really", 'Looks "twice"', file
    )


def test_a_file_without_a_head_is_all_text_and_named_after_itself(library: Library, write: Write) -> None:
    file = write("user/styles/short.md", "\ufeffBe brief.\r\nVery.\r\n")
    assert library.style("short") == Entry("short", "Be brief.\nVery.", "short", "", file)


def test_the_project_comes_before_the_user_and_changes_count_at_once(library: Library, write: Write) -> None:
    write("user/frameworks/deep.md", "user's")
    assert library.framework("deep").text == "user's"
    file = write("project/frameworks/deep.md", "project's")
    assert library.framework("deep").text == "project's"
    write("project/frameworks/deep.md", "changed")
    assert library.framework("deep").text == "changed"
    file.unlink()
    assert library.framework("deep").text == "user's"


@pytest.mark.parametrize(
    ("content", "gate"),
    [
        ("---\ncommand: pytest -q 'a b' # all\n---\n", Gate("pytest -q 'a b' # all")),
        (
            '---\ncommand: "say \\"hi\\""\npreset: fast\nmax_attempts: 3\ntimeout_s: 1.5\nloop: true\n---\nWhy.\n',
            Gate('say "hi"', preset="fast", max_attempts=3, timeout_s=1.5, loop=True),
        ),
        ("---\ncommand: x\nloop: false\n---", Gate("x")),
        ("---\ncommand: x\njudges: fixtures/**  *.golden\n---", Gate("x", judges=("fixtures/**", "*.golden"))),
        ("---\ncommand: x\nflaky: true\n---", Gate("x", flaky=True)),
        ("---\ncriteria: reads well\n---\nfor people\n", Criteria("reads well", "g")),
        ("---\ntitle: T\n---\nIt reads well.\n\nAlways.\n", Criteria("It reads well.\n\nAlways.", "g")),
        ("It reads well.\n", Criteria("It reads well.", "g")),
    ],
)
def test_a_gate_is_a_command_or_criteria(library: Library, write: Write, content: str, gate: Gate | Criteria) -> None:
    file = write("user/gates/g.md", content)
    title = "T" if "title" in content else "g"
    assert library.gate("g") == GateEntry("g", gate, title, "", file, by_user=True)
    file = write("project/gates/g.md", content)
    assert library.gate("g") == GateEntry("g", gate, title, "", file, by_user=False)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("---\ntitle: x\n", ":1: the head that begins here is not ended by a line ---"),
        ("---\ncomand: x\n---\n", ":2: unknown key 'comand'; did you mean 'command'?"),
        (
            "---\nzzz: x\n---\n",
            (
                ":2: unknown key 'zzz'; there are title, description, command, criteria, preset, max_attempts,"
                " timeout_s, judges, loop, flaky"
            ),
        ),
        ("---\ncommand: x\n\ncommand: y\n---\n", ":4: 'command' is given twice, first in line 2"),
        ("---\ncommand:\n---\n", ":2: 'command' has no value"),
        ("---\ncommand: ''\n---\n", ":2: 'command' must not be empty"),
        ("---\ncommand: |\n  x\n---\n", ":2: 'command' must be on one line; a longer text goes below the head"),
        ("---\ncommand: x\n  y\n---\n", ":3: expected 'key: value', not 'y'"),
        ("---\n- x\n---\n", ":2: expected 'key: value', not '- x'"),
        ('---\ncommand: "x\n---\n', ":2: 'command' begins with \", which is never closed"),
        (
            '---\ncommand: "x" y\n---\n',
            ":2: 'command' begins with \" and goes on after the closing one; put the whole in quotes",
        ),
        ("---\ncommand: x\ncriteria: y\n---\n", ":3: a gate has a 'command' or 'criteria', not both"),
        ("---\ncriteria: y\nmax_attempts: 2\n---\n", ":3: 'max_attempts' is for gates with a 'command'"),
        (
            "---\ncommand: x\npreset: quick\n---\n",
            ":3: 'preset' must be one of fast, full, extended, not 'quick'",
        ),
        (
            "---\ncommand: x\nmax_attempts: 0\n---\n",
            ":3: 'max_attempts' must be a whole number from 1 to 1000, not 0",
        ),
        ("---\ncommand: x\ntimeout_s: soon\n---\n", ":3: 'timeout_s' must be a number of seconds, not 'soon'"),
        ("---\ncommand: x\ntimeout_s: nan\n---\n", ":3: 'timeout_s' must be a number of seconds, not nan"),
        ("---\ncommand: x\nloop: yes\n---\n", ":3: 'loop' must be one of true, false, not 'yes'"),
        ("---\ntitle: x\n---\n", ": a gate needs a 'command', or 'criteria', or criteria as its text"),
        (b"---\ncommand: x\n---\n\xff", ":4: not UTF-8 text"),
        (b"---\ncommand: \0\n---\n", ":2: not UTF-8 text"),
        (b"x" * (MOST + 1), " is longer than 100,000 bytes"),
    ],
)
def test_a_mistake_names_the_file_and_the_line(
    library: Library, write: Write, content: str | bytes, problem: str
) -> None:
    file = write("project/gates/g.md", content)
    with pytest.raises(Misconfigured) as wrong:
        library.gate("g")
    assert str(wrong.value) == f"{file}{problem}"


def test_a_prompt_without_a_text_and_a_gates_key_in_a_prompt_are_mistakes(library: Library, write: Write) -> None:
    file = write("project/prompts/p.md", "---\ntitle: x\n---\n")
    with pytest.raises(Misconfigured, match="the file has no text"):
        library.prompt("p")
    file.write_text("---\ncommand: x\n---\nText")
    with pytest.raises(Misconfigured, match=r"p\.md:2: unknown key 'command'; there are title, description"):
        library.prompt("p")


def test_a_missing_name_is_reported_with_similar_names(library: Library, write: Write, tmp_path: Path) -> None:
    write("user/prompts/review.md", "x")
    with pytest.raises(Rejected) as refused:
        library.prompt("reveiw")
    place = tmp_path / "project" / "prompts" / "reveiw.md"
    assert str(refused.value) == f"there is no prompt 'reveiw'; did you mean review? (make {place})"
    assert [library.has("prompts", name) for name in ("review", "reveiw")] == [True, False]


def test_links_are_followed_only_where_the_user_made_them(library: Library, write: Write, tmp_path: Path) -> None:
    secret = write("secret", "kept apart")
    for side in ("project", "user"):
        (tmp_path / side / "prompts").mkdir(parents=True)
        (tmp_path / side / "prompts" / f"{side}.md").symlink_to(secret)
    with pytest.raises(Misconfigured, match="cannot be read"):
        library.prompt("project")
    assert library.prompt("user").text == "kept apart"


def test_a_folder_or_a_pipe_is_no_prompt(library: Library, tmp_path: Path) -> None:
    (tmp_path / "project" / "prompts" / "p.md").mkdir(parents=True)
    os.mkfifo(tmp_path / "project" / "prompts" / "q.md")
    for name in ("p", "q"):
        with pytest.raises(Misconfigured, match=rf"{name}\.md is not a regular file"):
            library.prompt(name)


def test_the_words_replace_args_in_the_prompt_or_follow_it() -> None:
    def entry(text: str) -> Entry:
        return Entry("a", text, "a", "", Path("a.md"))

    assert with_args(entry("Read {{args}}, then {{args}}."), "x") == "Read x, then x."
    assert with_args(entry("Read."), "x") == "Read.\n\nx"
    assert with_args(entry("Read."), "") == "Read."
