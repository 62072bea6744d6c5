"""The page about the HTTP API names all routes, fields, buttons and client methods, and no others."""

import re
from pathlib import Path
from typing import Any

from interlock.api.routes.ask_routes import Asks
from interlock.api.server import make_app
from interlock.client import ApiHookClient
from interlock.desk.buttons import BUTTONS
from interlock.desk.fields import FIELDS

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


class Nothing:
    """A stand-in for services that these tests never call."""

    def __getattr__(self, name: str) -> Any:
        return self


def test_every_route_has_its_row_and_every_row_its_route() -> None:
    nothing: Any = Nothing()
    described = make_app(nothing, nothing, Asks(nothing, nothing), lambda: None).openapi_schema.to_schema()
    routes = {f"{method.upper()} {path}" for path, item in described["paths"].items() for method in item}
    rows = set(re.findall(r"^\| `((?:GET|POST|PATCH|DELETE) [^`]+)` \|", PAGE, re.MULTILINE))
    assert rows == routes | {"GET /openapi.json"}


def test_every_field_is_named() -> None:
    assert not [name for name in FIELDS if f"`{name}`" not in PAGE]


def test_every_button_is_named() -> None:
    page = re.sub(r"(btn_[a-z]+_)([a-z]+)\|([a-z]+)\|([a-z]+)", r"\1\2 \1\3 \1\4", PAGE)
    named = set(re.findall(r"btn_[a-z_]+", page))
    kinds = ("spawn", "mma_step", "tool", "script", "ask", "merge", "review")
    named |= {f"btn_{word}_{kind}" for word in ("approve", "reject") for kind in kinds}
    assert set(BUTTONS) <= named
    assert {name for name in named if not name.endswith("_")} <= set(BUTTONS)


def test_every_method_of_the_client_is_named_and_every_name_is_a_method() -> None:
    listed = PAGE[PAGE.index("`get_value`, `set_value`") :].split(". Refusals")[0]
    named = set(re.findall(r"`([a-z_]+)`", listed))
    assert named == {name for name in vars(ApiHookClient) if not name.startswith("_")} - {"get_status"}
