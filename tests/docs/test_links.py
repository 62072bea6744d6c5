"""Links to headings lead to a heading, and decisions are numbered, named and listed alike."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page: Path) -> set[str]:
    """The anchors of the page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_to_headings_lead_to_a_heading() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            linked = page.parent / target if target else page
            assert anchor in anchors(linked), f"{page.name} links to {target}#{anchor}"


def test_every_decision_has_its_number_and_title_in_its_file_name_and_in_the_index() -> None:
    titles: list[str] = []
    for page in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        number, _, name = title.partition(" – ")
        assert page.stem == f"{int(number):04}-{re.sub(r'[^a-z0-9]+', '-', name.lower())}"
        titles.append(f"- [{title}](decisions/{page.name})")
    assert "\n".join(titles) in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
