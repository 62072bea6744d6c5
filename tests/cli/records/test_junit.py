"""JUnit XML reports of several tools, and invalid files."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.cli.records.junit import DEEPEST, MOST_BYTES, MOST_CASES, executions, read_junit
from interlock.domain.checks.test_history_texts import fit
from interlock.domain.messages.commands.test_history_commands import RecordTests
from interlock.domain.values.test_history import Assertion, Execution
from interlock.errors import BadValue
from tests.domain.given import Bench

NOW = 1_770_000_000_000

PYTEST = b"""<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1"
failures="1" skipped="1" tests="4" time="0.500" timestamp="2026-01-02T03:04:05.100000+01:00" hostname="h">
<testcase classname="tests.test_a" name="test_ok" time="0.010" />
<testcase classname="tests.test_a" name="test_no[1]" time="0.020"><failure message="assert 1 == 2">
&gt;   assert 1 == 2
E   assert 1 == 2
</failure><system-out>hello
there</system-out><system-err>oh</system-err></testcase>
<testcase classname="tests.test_a" name="test_skip" time="0.000">
<skipped type="pytest.skip" message="x">y</skipped></testcase>
<testcase classname="tests.test_a" name="test_err" time="0.300"><error message="failed on setup">boom</error></testcase>
</testsuite></testsuites>"""

JEST = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="jest tests" tests="2" failures="1" errors="0" time="1.2">
  <testsuite name="sum" errors="0" failures="1" skipped="0" timestamp="2026-01-02T03:04:05" time="0.9" tests="2">
    <testcase classname="sum adds" name="sum adds" time="0.002"></testcase>
    <testcase classname="sum subtracts" name="sum subtracts" time="0.5"><failure>Error: expect(received)
    at Object.&lt;anonymous&gt; (sum.test.js:9:21)</failure></testcase>
  </testsuite>
</testsuites>"""

GO = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1"><testsuite name="example.com/pkg" tests="2" failures="1" time="0.160"
 timestamp="2026-01-02T03:04:05Z"><properties><property name="go.version" value="go1.23"></property></properties>
<testcase name="TestOne" classname="example.com/pkg" time="0.060"></testcase>
<testcase name="TestTwo" classname="example.com/pkg" time="0.100">
<failure message="Failed" type=""><![CDATA[a_test.go:11: <no>]]></failure></testcase>
</testsuite></testsuites>"""

SUREFIRE = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="surefire.xsd"
 name="com.example.AppTest" time="1,234.5" tests="3" errors="0" skipped="0" failures="1">
  <properties><property name="a" value="b"/></properties>
  <testcase name="fine" classname="com.example.AppTest" time="1,234.5"/>
  <testcase name="shaky" classname="com.example.AppTest" time="0.1">
   <flakyFailure message="once" type="x">trace</flakyFailure></testcase>
  <testcase name="bad" classname="com.example.AppTest" time="0.01">
   <failure message="expected:&lt;1&gt; but was:&lt;2&gt;"
   type="org.junit.ComparisonFailure"><![CDATA[org.junit.ComparisonFailure: expected:<1> but was:<2>
	at com.example.AppTest.bad(AppTest.java:9)]]></failure><rerunFailure message="again" type="x"/></testcase>
</testsuite>"""


def read(content: bytes) -> tuple[Execution, ...]:
    numbers: Iterator[int] = count(10_000_000)
    return executions(read_junit(content), "unit", NOW, lambda: f"unit_{next(numbers)}")


def rows(content: bytes) -> list[tuple[str, str, int]]:
    return [(each.name, each.status, each.execution_time_ms) for each in read(content)]


def test_a_report_of_pytest() -> None:
    begun = 1_767_319_445_100
    assert read(PYTEST) == (
        Execution(
            test_id="unit_10000000",
            name="tests.test_a.test_ok",
            category="unit",
            status="passed",
            queued_at_ms=begun,
            started_at_ms=begun,
            completed_at_ms=begun + 10,
            execution_time_ms=10,
        ),
        Execution(
            test_id="unit_10000001",
            name="tests.test_a.test_no[1]",
            category="unit",
            status="failed",
            queued_at_ms=begun + 10,
            started_at_ms=begun + 10,
            completed_at_ms=begun + 30,
            execution_time_ms=20,
            error_message=">   assert 1 == 2\nE   assert 1 == 2",
            assertions=(Assertion("failure", False, error_message="assert 1 == 2"),),
            logs=("hello", "there", "oh"),
        ),
        Execution(
            test_id="unit_10000002",
            name="tests.test_a.test_err",
            category="unit",
            status="failed",
            queued_at_ms=begun + 30,
            started_at_ms=begun + 30,
            completed_at_ms=begun + 330,
            execution_time_ms=300,
            error_message="failed on setup\nboom",
            assertions=(Assertion("error", False, error_message="failed on setup"),),
        ),
    )


def test_reports_of_jest_go_and_surefire() -> None:
    assert rows(JEST) == [("sum adds", "passed", 2), ("sum subtracts", "failed", 500)]
    assert rows(GO) == [("example.com/pkg.TestOne", "passed", 60), ("example.com/pkg.TestTwo", "failed", 100)]
    assert rows(SUREFIRE) == [
        ("com.example.AppTest.fine", "passed", 1_234_500),
        ("com.example.AppTest.shaky", "passed", 100),
        ("com.example.AppTest.bad", "failed", 10),
    ]
    assert read(GO)[1].error_message == "Failed\na_test.go:11: <no>"
    assert read(SUREFIRE)[2].assertions[0].description == "org.junit.ComparisonFailure"
    assert read(SUREFIRE)[0].completed_at_ms == NOW, "without a timestamp: the current time"


def test_suites_in_suites() -> None:
    content = b"""<testsuites><testsuite name="all" timestamp="2026-01-02T00:00:00">
      <testsuite name="inner"><testcase name="a" time="1"/><testcase name="b" time="NaN"/></testsuite>
      <testcase name="c" time="-3"/><testcase classname="K"/><testcase/><testcase name="d" status="notrun"/>
    </testsuite></testsuites>"""
    runs = read(content)
    assert [(each.name, each.started_at_ms - runs[0].started_at_ms) for each in runs] == [
        ("inner.a", 0),
        ("inner.b", 1_000),
        ("all.c", 1_000),
        ("K", 1_000),
        ("all", 1_000),
    ]


def test_times_that_cannot_be_are_none() -> None:
    for wrong in ("yesterday", "", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00", "99999-01-01"):
        content = f'<testsuite timestamp="{wrong}"><testcase name="a" time="1e300"/></testsuite>'.encode()
        bench = Bench()
        bench.send(RecordTests(tuple(fit(each).execution for each in read(content))))
        assert bench.state.tests.count == 1


LAUGHS = b"""<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]>
<testsuite><testcase name="&lol2;"/></testsuite>"""
OUTSIDE = (
    b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="a">&x;</testcase></testsuite>'
)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (LAUGHS, "document type or entities"),
        (OUTSIDE, "document type or entities"),
        (b'<!DOCTYPE testsuite SYSTEM "http://127.0.0.1/x.dtd"><testsuite/>', "document type or entities"),
        (b"<testsuite>&nbsp;</testsuite>", "not XML"),
        (b"", "not XML"),
        (b"{}", "not XML"),
        (b"\x00\x01", "not XML"),
        (b"<testsuite><testcase></testsuite>", "not XML"),
        (b'<?xml version="1.0" encoding="klingon"?><testsuite/>', "cannot be read|not XML"),
        (b"<html><testcase/></html>", "no JUnit report"),
        (b"<testsuite>" * (DEEPEST + 2), "deep"),
        (b"<testsuite>" + b" " * MOST_BYTES + b"</testsuite>", "MB"),
        (b"<testsuite>" + b"<testcase/>" * (MOST_CASES + 1) + b"</testsuite>", "more than 100,000"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_an_invalid_report_or_several_are_refused_with_a_message(content: bytes, why: str) -> None:
    with pytest.raises(BadValue, match=why):
        read_junit(content)


def test_a_text_without_end_is_cut() -> None:
    content = b'<testsuite><testcase name="a"><failure>' + b"x" * 5_000_000 + b"</failure></testcase></testsuite>"
    assert len(read(content)[0].error_message) == 1_000_000


TAGS = st.sampled_from(
    ["<testsuite>", "</testsuite>", '<testcase name="n">', "</testcase>", '<failure message="m">', "</failure>",
     "<skipped/>", "<system-out>", "</system-out>", "text", "<other>", "</other>", "<error/>", '<testcase time="1"/>']
)  # fmt: skip


@given(st.lists(TAGS, max_size=25).map("".join) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_whatever_comes_is_read_or_refused(middle: str) -> None:
    try:
        runs = read(f"<testsuite>{middle}</testsuite>".encode())
    except BadValue:
        return
    if runs:
        Bench().send(RecordTests(tuple(fit(each).execution for each in runs)))
