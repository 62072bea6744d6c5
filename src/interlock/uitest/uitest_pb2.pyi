from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClickType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLICK_TYPE_UNSPECIFIED: _ClassVar[ClickType]
    CLICK_TYPE_LEFT: _ClassVar[ClickType]
    CLICK_TYPE_RIGHT: _ClassVar[ClickType]
    CLICK_TYPE_DOUBLE: _ClassVar[ClickType]
    CLICK_TYPE_MIDDLE: _ClassVar[ClickType]

class ImageFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IMAGE_FORMAT_UNSPECIFIED: _ClassVar[ImageFormat]
    IMAGE_FORMAT_PNG: _ClassVar[ImageFormat]

class TestStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEST_STATUS_UNKNOWN: _ClassVar[TestStatus]
    TEST_STATUS_QUEUED: _ClassVar[TestStatus]
    TEST_STATUS_RUNNING: _ClassVar[TestStatus]
    TEST_STATUS_PASSED: _ClassVar[TestStatus]
    TEST_STATUS_FAILED: _ClassVar[TestStatus]
    TEST_STATUS_TIMEOUT: _ClassVar[TestStatus]
CLICK_TYPE_UNSPECIFIED: ClickType
CLICK_TYPE_LEFT: ClickType
CLICK_TYPE_RIGHT: ClickType
CLICK_TYPE_DOUBLE: ClickType
CLICK_TYPE_MIDDLE: ClickType
IMAGE_FORMAT_UNSPECIFIED: ImageFormat
IMAGE_FORMAT_PNG: ImageFormat
TEST_STATUS_UNKNOWN: TestStatus
TEST_STATUS_QUEUED: TestStatus
TEST_STATUS_RUNNING: TestStatus
TEST_STATUS_PASSED: TestStatus
TEST_STATUS_FAILED: TestStatus
TEST_STATUS_TIMEOUT: TestStatus

class PingRequest(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: str
    def __init__(self, message: _Optional[str] = ...) -> None: ...

class PingResponse(_message.Message):
    __slots__ = ("message", "timestamp_ms", "version")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_MS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    message: str
    timestamp_ms: int
    version: str
    def __init__(self, message: _Optional[str] = ..., timestamp_ms: _Optional[int] = ..., version: _Optional[str] = ...) -> None: ...

class ClickRequest(_message.Message):
    __slots__ = ("target", "type", "widget_key")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    target: str
    type: ClickType
    widget_key: str
    def __init__(self, target: _Optional[str] = ..., type: _Optional[_Union[ClickType, str]] = ..., widget_key: _Optional[str] = ...) -> None: ...

class ClickResponse(_message.Message):
    __slots__ = ("success", "message", "execution_time_ms", "test_id", "resolved_widget_key", "resolved_path")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_PATH_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    execution_time_ms: int
    test_id: str
    resolved_widget_key: str
    resolved_path: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., execution_time_ms: _Optional[int] = ..., test_id: _Optional[str] = ..., resolved_widget_key: _Optional[str] = ..., resolved_path: _Optional[str] = ...) -> None: ...

class TypeRequest(_message.Message):
    __slots__ = ("target", "text", "clear_first", "widget_key")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIRST_FIELD_NUMBER: _ClassVar[int]
    WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    target: str
    text: str
    clear_first: bool
    widget_key: str
    def __init__(self, target: _Optional[str] = ..., text: _Optional[str] = ..., clear_first: _Optional[bool] = ..., widget_key: _Optional[str] = ...) -> None: ...

class TypeResponse(_message.Message):
    __slots__ = ("success", "message", "execution_time_ms", "test_id", "resolved_widget_key", "resolved_path")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_PATH_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    execution_time_ms: int
    test_id: str
    resolved_widget_key: str
    resolved_path: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., execution_time_ms: _Optional[int] = ..., test_id: _Optional[str] = ..., resolved_widget_key: _Optional[str] = ..., resolved_path: _Optional[str] = ...) -> None: ...

class WaitRequest(_message.Message):
    __slots__ = ("condition", "timeout_ms", "poll_interval_ms", "widget_key")
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    POLL_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    condition: str
    timeout_ms: int
    poll_interval_ms: int
    widget_key: str
    def __init__(self, condition: _Optional[str] = ..., timeout_ms: _Optional[int] = ..., poll_interval_ms: _Optional[int] = ..., widget_key: _Optional[str] = ...) -> None: ...

class WaitResponse(_message.Message):
    __slots__ = ("success", "message", "elapsed_ms", "test_id", "resolved_widget_key", "resolved_path")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_PATH_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    elapsed_ms: int
    test_id: str
    resolved_widget_key: str
    resolved_path: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., elapsed_ms: _Optional[int] = ..., test_id: _Optional[str] = ..., resolved_widget_key: _Optional[str] = ..., resolved_path: _Optional[str] = ...) -> None: ...

class AssertRequest(_message.Message):
    __slots__ = ("condition", "failure_message", "widget_key")
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    FAILURE_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    condition: str
    failure_message: str
    widget_key: str
    def __init__(self, condition: _Optional[str] = ..., failure_message: _Optional[str] = ..., widget_key: _Optional[str] = ...) -> None: ...

class AssertResponse(_message.Message):
    __slots__ = ("success", "message", "actual_value", "expected_value", "test_id", "resolved_widget_key", "resolved_path")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ACTUAL_VALUE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VALUE_FIELD_NUMBER: _ClassVar[int]
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_WIDGET_KEY_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_PATH_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    actual_value: str
    expected_value: str
    test_id: str
    resolved_widget_key: str
    resolved_path: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., actual_value: _Optional[str] = ..., expected_value: _Optional[str] = ..., test_id: _Optional[str] = ..., resolved_widget_key: _Optional[str] = ..., resolved_path: _Optional[str] = ...) -> None: ...

class ScreenshotRequest(_message.Message):
    __slots__ = ("window_title", "output_path", "format")
    WINDOW_TITLE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PATH_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    window_title: str
    output_path: str
    format: ImageFormat
    def __init__(self, window_title: _Optional[str] = ..., output_path: _Optional[str] = ..., format: _Optional[_Union[ImageFormat, str]] = ...) -> None: ...

class ScreenshotResponse(_message.Message):
    __slots__ = ("success", "message", "file_path", "file_size_bytes")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FILE_PATH_FIELD_NUMBER: _ClassVar[int]
    FILE_SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    file_path: str
    file_size_bytes: int
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., file_path: _Optional[str] = ..., file_size_bytes: _Optional[int] = ...) -> None: ...

class DiscoverWidgetsRequest(_message.Message):
    __slots__ = ("window_filter", "type_filter", "only_visible", "only_enabled")
    WINDOW_FILTER_FIELD_NUMBER: _ClassVar[int]
    TYPE_FILTER_FIELD_NUMBER: _ClassVar[int]
    ONLY_VISIBLE_FIELD_NUMBER: _ClassVar[int]
    ONLY_ENABLED_FIELD_NUMBER: _ClassVar[int]
    window_filter: str
    type_filter: str
    only_visible: bool
    only_enabled: bool
    def __init__(self, window_filter: _Optional[str] = ..., type_filter: _Optional[str] = ..., only_visible: _Optional[bool] = ..., only_enabled: _Optional[bool] = ...) -> None: ...

class WidgetBounds(_message.Message):
    __slots__ = ("min_x", "min_y", "max_x", "max_y")
    MIN_X_FIELD_NUMBER: _ClassVar[int]
    MIN_Y_FIELD_NUMBER: _ClassVar[int]
    MAX_X_FIELD_NUMBER: _ClassVar[int]
    MAX_Y_FIELD_NUMBER: _ClassVar[int]
    min_x: float
    min_y: float
    max_x: float
    max_y: float
    def __init__(self, min_x: _Optional[float] = ..., min_y: _Optional[float] = ..., max_x: _Optional[float] = ..., max_y: _Optional[float] = ...) -> None: ...

class DiscoveredWidget(_message.Message):
    __slots__ = ("path", "key", "label", "type", "visible", "enabled", "bounds", "value")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    BOUNDS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    path: str
    key: str
    label: str
    type: str
    visible: bool
    enabled: bool
    bounds: WidgetBounds
    value: str
    def __init__(self, path: _Optional[str] = ..., key: _Optional[str] = ..., label: _Optional[str] = ..., type: _Optional[str] = ..., visible: _Optional[bool] = ..., enabled: _Optional[bool] = ..., bounds: _Optional[_Union[WidgetBounds, _Mapping]] = ..., value: _Optional[str] = ...) -> None: ...

class DiscoveredWindow(_message.Message):
    __slots__ = ("title", "visible", "bounds", "widgets")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    BOUNDS_FIELD_NUMBER: _ClassVar[int]
    WIDGETS_FIELD_NUMBER: _ClassVar[int]
    title: str
    visible: bool
    bounds: WidgetBounds
    widgets: _containers.RepeatedCompositeFieldContainer[DiscoveredWidget]
    def __init__(self, title: _Optional[str] = ..., visible: _Optional[bool] = ..., bounds: _Optional[_Union[WidgetBounds, _Mapping]] = ..., widgets: _Optional[_Iterable[_Union[DiscoveredWidget, _Mapping]]] = ...) -> None: ...

class DiscoverWidgetsResponse(_message.Message):
    __slots__ = ("windows", "total_widgets", "generated_at_ms")
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_WIDGETS_FIELD_NUMBER: _ClassVar[int]
    GENERATED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    windows: _containers.RepeatedCompositeFieldContainer[DiscoveredWindow]
    total_widgets: int
    generated_at_ms: int
    def __init__(self, windows: _Optional[_Iterable[_Union[DiscoveredWindow, _Mapping]]] = ..., total_widgets: _Optional[int] = ..., generated_at_ms: _Optional[int] = ...) -> None: ...

class GetTestStatusRequest(_message.Message):
    __slots__ = ("test_id",)
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    test_id: str
    def __init__(self, test_id: _Optional[str] = ...) -> None: ...

class GetTestStatusResponse(_message.Message):
    __slots__ = ("status", "queued_at_ms", "started_at_ms", "completed_at_ms", "execution_time_ms", "error_message", "assertion_failures")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ASSERTION_FAILURES_FIELD_NUMBER: _ClassVar[int]
    status: TestStatus
    queued_at_ms: int
    started_at_ms: int
    completed_at_ms: int
    execution_time_ms: int
    error_message: str
    assertion_failures: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, status: _Optional[_Union[TestStatus, str]] = ..., queued_at_ms: _Optional[int] = ..., started_at_ms: _Optional[int] = ..., completed_at_ms: _Optional[int] = ..., execution_time_ms: _Optional[int] = ..., error_message: _Optional[str] = ..., assertion_failures: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchTestRequest(_message.Message):
    __slots__ = ("test_id",)
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    test_id: str
    def __init__(self, test_id: _Optional[str] = ...) -> None: ...

class ListTestsRequest(_message.Message):
    __slots__ = ("category_filter", "page_size", "page_token", "status_filter")
    CATEGORY_FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATUS_FILTER_FIELD_NUMBER: _ClassVar[int]
    category_filter: str
    page_size: int
    page_token: str
    status_filter: TestStatus
    def __init__(self, category_filter: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., status_filter: _Optional[_Union[TestStatus, str]] = ...) -> None: ...

class TestInfo(_message.Message):
    __slots__ = ("test_id", "name", "category", "last_run_timestamp_ms", "total_runs", "pass_count", "fail_count", "average_duration_ms", "last_status", "flake_rate")
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    LAST_RUN_TIMESTAMP_MS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_RUNS_FIELD_NUMBER: _ClassVar[int]
    PASS_COUNT_FIELD_NUMBER: _ClassVar[int]
    FAIL_COUNT_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_STATUS_FIELD_NUMBER: _ClassVar[int]
    FLAKE_RATE_FIELD_NUMBER: _ClassVar[int]
    test_id: str
    name: str
    category: str
    last_run_timestamp_ms: int
    total_runs: int
    pass_count: int
    fail_count: int
    average_duration_ms: int
    last_status: TestStatus
    flake_rate: float
    def __init__(self, test_id: _Optional[str] = ..., name: _Optional[str] = ..., category: _Optional[str] = ..., last_run_timestamp_ms: _Optional[int] = ..., total_runs: _Optional[int] = ..., pass_count: _Optional[int] = ..., fail_count: _Optional[int] = ..., average_duration_ms: _Optional[int] = ..., last_status: _Optional[_Union[TestStatus, str]] = ..., flake_rate: _Optional[float] = ...) -> None: ...

class ListTestsResponse(_message.Message):
    __slots__ = ("tests", "next_page_token", "total_count")
    TESTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    tests: _containers.RepeatedCompositeFieldContainer[TestInfo]
    next_page_token: str
    total_count: int
    def __init__(self, tests: _Optional[_Iterable[_Union[TestInfo, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_count: _Optional[int] = ...) -> None: ...

class GetTestResultsRequest(_message.Message):
    __slots__ = ("test_id", "include_logs")
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_LOGS_FIELD_NUMBER: _ClassVar[int]
    test_id: str
    include_logs: bool
    def __init__(self, test_id: _Optional[str] = ..., include_logs: _Optional[bool] = ...) -> None: ...

class AssertionResult(_message.Message):
    __slots__ = ("description", "passed", "expected_value", "actual_value", "error_message")
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PASSED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VALUE_FIELD_NUMBER: _ClassVar[int]
    ACTUAL_VALUE_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    description: str
    passed: bool
    expected_value: str
    actual_value: str
    error_message: str
    def __init__(self, description: _Optional[str] = ..., passed: _Optional[bool] = ..., expected_value: _Optional[str] = ..., actual_value: _Optional[str] = ..., error_message: _Optional[str] = ...) -> None: ...

class GetTestResultsResponse(_message.Message):
    __slots__ = ("success", "test_name", "category", "executed_at_ms", "duration_ms", "assertions", "logs", "metrics", "screenshot_path", "error_message", "status", "widget_tree", "parent_test_id", "child_test_ids")
    class MetricsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    TEST_NAME_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    EXECUTED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    ASSERTIONS_FIELD_NUMBER: _ClassVar[int]
    LOGS_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    SCREENSHOT_PATH_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    WIDGET_TREE_FIELD_NUMBER: _ClassVar[int]
    PARENT_TEST_ID_FIELD_NUMBER: _ClassVar[int]
    CHILD_TEST_IDS_FIELD_NUMBER: _ClassVar[int]
    success: bool
    test_name: str
    category: str
    executed_at_ms: int
    duration_ms: int
    assertions: _containers.RepeatedCompositeFieldContainer[AssertionResult]
    logs: _containers.RepeatedScalarFieldContainer[str]
    metrics: _containers.ScalarMap[str, int]
    screenshot_path: str
    error_message: str
    status: TestStatus
    widget_tree: str
    parent_test_id: str
    child_test_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, success: _Optional[bool] = ..., test_name: _Optional[str] = ..., category: _Optional[str] = ..., executed_at_ms: _Optional[int] = ..., duration_ms: _Optional[int] = ..., assertions: _Optional[_Iterable[_Union[AssertionResult, _Mapping]]] = ..., logs: _Optional[_Iterable[str]] = ..., metrics: _Optional[_Mapping[str, int]] = ..., screenshot_path: _Optional[str] = ..., error_message: _Optional[str] = ..., status: _Optional[_Union[TestStatus, str]] = ..., widget_tree: _Optional[str] = ..., parent_test_id: _Optional[str] = ..., child_test_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class StartRecordingRequest(_message.Message):
    __slots__ = ("output_path", "session_name", "description")
    OUTPUT_PATH_FIELD_NUMBER: _ClassVar[int]
    SESSION_NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    output_path: str
    session_name: str
    description: str
    def __init__(self, output_path: _Optional[str] = ..., session_name: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class StartRecordingResponse(_message.Message):
    __slots__ = ("success", "message", "recording_id")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RECORDING_ID_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    recording_id: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., recording_id: _Optional[str] = ...) -> None: ...

class StopRecordingRequest(_message.Message):
    __slots__ = ("recording_id", "discard")
    RECORDING_ID_FIELD_NUMBER: _ClassVar[int]
    DISCARD_FIELD_NUMBER: _ClassVar[int]
    recording_id: str
    discard: bool
    def __init__(self, recording_id: _Optional[str] = ..., discard: _Optional[bool] = ...) -> None: ...

class StopRecordingResponse(_message.Message):
    __slots__ = ("success", "message", "output_path")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PATH_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    output_path: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., output_path: _Optional[str] = ...) -> None: ...

class ReplayTestRequest(_message.Message):
    __slots__ = ("script_path", "ci_mode", "parameter_overrides", "prompt")
    class ParameterOverridesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SCRIPT_PATH_FIELD_NUMBER: _ClassVar[int]
    CI_MODE_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    script_path: str
    ci_mode: bool
    parameter_overrides: _containers.ScalarMap[str, str]
    prompt: str
    def __init__(self, script_path: _Optional[str] = ..., ci_mode: _Optional[bool] = ..., parameter_overrides: _Optional[_Mapping[str, str]] = ..., prompt: _Optional[str] = ...) -> None: ...

class ReplayTestResponse(_message.Message):
    __slots__ = ("success", "message", "test_id")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TEST_ID_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    test_id: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., test_id: _Optional[str] = ...) -> None: ...

class WaitForIdleRequest(_message.Message):
    __slots__ = ("timeout_ms",)
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    timeout_ms: int
    def __init__(self, timeout_ms: _Optional[int] = ...) -> None: ...

class WaitForIdleResponse(_message.Message):
    __slots__ = ("success", "message", "elapsed_ms")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    elapsed_ms: int
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., elapsed_ms: _Optional[int] = ...) -> None: ...
