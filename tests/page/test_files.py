"""The files of the page: libraries as recorded, everything served, the shell complete, nothing inline."""

import json
import re
from hashlib import sha256
from pathlib import Path

from interlock.api.page.files import CONTENT_POLICY, PageFiles

ASSETS = Path(__file__).parents[2] / "src" / "interlock" / "api" / "page" / "assets"
OWN = sorted(path for path in ASSETS.rglob("*.js"))


def test_the_libraries_are_the_recorded_ones_with_their_licences() -> None:
    vendor = ASSETS / "vendor"
    recorded = dict(line.split()[::-1] for line in (vendor / "SHA256SUMS").read_text().splitlines())
    assert {path.name: sha256(path.read_bytes()).hexdigest() for path in vendor.glob("*.mjs")} == recorded
    third_party = (ASSETS.parents[4] / "THIRD_PARTY").read_text()
    for name in recorded:
        assert (vendor / name).with_suffix(".LICENSE").read_text().strip()
        assert re.search(rf"^  {name.removesuffix('.mjs')} +\d", third_party, re.MULTILINE), name


def test_every_file_is_served_under_its_address() -> None:
    served = PageFiles().by_path
    expected = {
        path.relative_to(ASSETS).as_posix()
        for path in ASSETS.rglob("*")
        if path.is_file() and path.suffix != ".LICENSE" and path.name != "SHA256SUMS"
    }
    assert {name.removeprefix("/assets/").removeprefix("/") or "index.html" for name in served} == expected


def test_the_service_worker_keeps_exactly_the_shell() -> None:
    text = (ASSETS / "service-worker.js").read_text()
    shell = set(re.findall(r'^  "(/[^"]*)",$', text, re.MULTILINE))
    assert shell == set(PageFiles().by_path) - {"/service-worker.js"}


def test_every_import_names_a_file_and_nothing_is_inline() -> None:
    served = PageFiles().by_path
    for path in OWN:
        text = path.read_text()
        for address in re.findall(r'from "([^"]+)"', text):
            assert address in served, f"{path.name} imports {address}"
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|dangerously", text), (
            path.name
        )
    index = (ASSETS / "index.html").read_text()
    assert not re.search(r"<style|\son\w+=|style=|<script(?![^>]*\ssrc=)", index)
    assert "unsafe" not in CONTENT_POLICY


def test_no_script_is_longer_than_500_lines() -> None:
    assert [path.name for path in OWN if len(path.read_text().splitlines()) > 500] == []


def test_the_manifest_names_icons_that_exist() -> None:
    manifest = json.loads((ASSETS / "app.webmanifest").read_text())
    assert [icon["src"] for icon in manifest["icons"] if icon["src"] not in PageFiles().by_path] == []


def test_the_pictures_of_the_page_are_shown_in_its_documentation() -> None:
    docs = ASSETS.parents[4] / "docs"
    drawn = {path.name for path in (docs / "screenshots" / "page").glob("*.png")}
    assert drawn == set(re.findall(r"\(screenshots/page/(\d+\.png)\)", (docs / "page.md").read_text()))
