"""JSON shapes of the status, desk and window routes."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from interlock.api.schemas.basics import Count
from interlock.desk.buttons import Changes


class Status(Struct, frozen=True, omit_defaults=True):
    """Requests without a token get the `status` field only."""

    status: Literal["ok"]
    version: str = ""
    project: str = ""
    pid: int = 0
    capability: str = ""
    journal: int = 0
    sandbox: str = ""
    test_policy: bool = False


class _Action(Struct, frozen=True, forbid_unknown_fields=True, tag_field="action"):
    pass


class SetValue(_Action, frozen=True, tag="set_value"):
    """Set the value of a desk field."""

    item: Annotated[str, Meta(examples=["mma_epic_input"])]
    value: Annotated[str, Meta(examples=["Let users export their data"])]


class Click(_Action, frozen=True, tag="click"):
    """Press a button."""

    item: Annotated[str, Meta(examples=["btn_mma_load_track"])]
    user_data: Annotated[
        str | Changes | None,
        Meta(description="The object of the click, such as the id of a track or an approval.", examples=["greetings"]),
    ] = None
    value: Annotated[str | None, Meta(description="An alternative name for `user_data`.")] = None


class SelectListItem(_Action, frozen=True, tag="select_list_item"):
    """Choose a discussion, by its id or title."""

    value: Annotated[str, Meta(examples=["D-1"])]
    item: Literal["discussions", "disc_listbox"] = "discussions"


class SelectTab(_Action, frozen=True, tag="select_tab"):
    """Bring a panel to the front."""

    value: Annotated[str, Meta(examples=["inbox"])]
    item: str = "tabs"


class RefreshFromProject(_Action, frozen=True, tag="refresh_from_project"):
    """Read the project's settings again."""

    item: str = ""
    value: str | None = None


class RefreshApiMetrics(_Action, frozen=True, tag="refresh_api_metrics"):
    """Return the token usage and cost of models so far."""

    item: str = ""
    value: str | None = None


class ClearAsk(_Action, frozen=True, tag="clear_ask"):
    """Withdraw the ask with this id."""

    item: Annotated[str, Meta(examples=["A-3"])]
    value: str | None = None


GuiAction = SetValue | Click | SelectListItem | SelectTab | RefreshFromProject | RefreshApiMetrics | ClearAsk


class Value(Struct, frozen=True):
    field: Annotated[str, Meta(examples=["ai_status"])]
    value: Any


class Named(Struct, frozen=True):
    id: str
    title: str


class GuiState(Struct, frozen=True):
    """The desk: fields, buttons, tabs and selections."""

    version: Annotated[int, Meta(description="The version of the journal that the state includes.")]
    fields: dict[str, str]
    buttons: Annotated[dict[str, str], Meta(description="The buttons by name, each with its effect.")]
    tabs: list[str]
    active_tab: str
    active_discussion: str | None
    active_track: str | None
    discussions: list[Named]
    indicators: dict[str, bool]
    pending_approvals: Count


class Diagnostics(Struct, frozen=True):
    """Figures of the window; null without a window."""

    fps: float | None
    frame_time_ms: float | None
    input_lag_ms: float | None
    cpu: float | None


class Health(Struct, frozen=True):
    status: Literal["ok", "degraded"]
    window: Annotated[bool, Meta(description="True if the workbench has a window.")]
    panels: Annotated[dict[str, str], Meta(description="The panels that failed, each with its error.")]
    journal: Annotated[str, Meta(description="Empty, or the reason why the journal cannot be written.")]
    followers: Annotated[Count, Meta(description="The number of clients that follow events.")]
