"""Readable text from HTML, also from HTML that was made to take long."""

import time

import pytest

from interlock.tools.web.page_text import page_text

HERE = "https://docs.test/a/page"


def text(html: str) -> str:
    return page_text(html, HERE)[1]


def test_the_parts_of_a_page_become_markdown() -> None:
    title, body = page_text(
        """<!doctype html><html><head><title> A &amp; B </title><style>p{}</style></head><body>
        <h1>Big <code>x</code></h1><!-- hidden --><p>Some <b>bold</b> text,
        <a href="../other?x=1">a link</a>, <a href="#here">a place</a>.</p>
        <ul><li>one<li>two<ul><li>inner</ul></ul><ol><li>first</li><li>second</li></ol>
        <pre>if a &lt; b:
    go()</pre><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>
        <img alt="A cat"><hr>end<br>line""",
        HERE,
    )
    assert title == "A & B"
    assert body == (
        "# Big `x`\n\nSome bold text, [a link](https://docs.test/other?x=1), a place.\n\n- one\n- two\n  - inner\n\n"
        "1. first\n2. second\n\n```\nif a < b:\n    go()\n```\n\n| A | B\n| 1 | 2\n\n(image: A cat)\n\n---\n\nend\nline"
    )


@pytest.mark.parametrize("name", ["script", "style", "template", "noscript", "iframe", "svg", "SCRIPT"])
def test_what_a_reader_does_not_see_is_left_out(name: str) -> None:
    assert text(f"before <{name} a='>'>let x = '<p>no</p>'</{name.lower()} >after") == "before after"
    assert text(f"before <{name}>never closed") == "before"


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "file:///etc", "#x", "", "http://[", "/a b"]
)
def test_only_usable_links_are_shown(link: str) -> None:
    assert text(f'<a href="{link}">go</a>') == "go"


def test_marks_that_are_no_tags_stay_text() -> None:
    assert text("1 < 2 &lt;b&gt; &unknown;") == "1 < 2 <b> &unknown;"
    assert text("&#" + "9" * 5_000 + ";").startswith("&#999")


@pytest.mark.parametrize(
    "piece",
    [
        *("<!--", "<a ", "</", "<![", "&#", "<script>", "<?", "<!", '<a href="', "<a x=", "&amp", "<![CDATA[", "<"),
        *("<ul><li>", "<title>", "<pre>", '<a href="x">', "</a>", "<code>", "<td>", "<a href=" + " " * 60),
    ],
)
def test_a_hostile_page_takes_time_by_its_size_only(piece: str) -> None:
    """The standard library's parser needs minutes for some of these."""
    begun = time.process_time()
    page_text(piece * (1_000_000 // len(piece)), HERE)
    assert time.process_time() - begun < 20
