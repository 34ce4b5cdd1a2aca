"""The fixtures that every language holds. (C2.3, C2.19, C2.21, C4)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ask, contract_server, fixture
from openfeature.evaluation_context import EvaluationContext

from halyard import Client, HalyardProvider
from halyard._events import EventParser
from halyard._order import RevisionGate
from halyard.evaluation import NOT_GIVEN, is_in_rollout, murmur3, rollout_bucket, target_of

ABSENT = "the default of the caller"


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in cases])


@named(fixture("evaluation")["cases"])
def test_evaluation(case: dict[str, Any]) -> None:
    state, expected = case.get("state"), case["expected"]
    key, target = case["flagKey"], case.get("targetingKey", NOT_GIVEN)
    flags = {"other": {"enabled": True}, **({} if state is None else {key: state})}
    client = Client(api_key="proj_live_none", environment="production", base_url="http://127.0.0.1:9", bootstrap=flags)
    try:
        assert client.is_enabled(key, targeting_key=target) is expected["isOn"]
        given = client.evaluate(key, None, targeting_key=target)
        assert given.value == expected.get("value")
        assert given.enabled is expected["isOn"]

        provider = HalyardProvider(client)
        context = EvaluationContext(None if target is NOT_GIVEN else target)
        value = {} if state is None else state.get("value", True)
        read = {
            bool: provider.resolve_boolean_details,
            str: provider.resolve_string_details,
            int: provider.resolve_integer_details,
            float: provider.resolve_float_details,
        }.get(type(value), provider.resolve_object_details)
        answer = read(key, ABSENT, context)  # type: ignore[operator]  # a default that no flag has
        wanted = expected["ofrep"]
        if value is None and wanted.get("variant") == "on":
            assert answer.error_code == "TYPE_MISMATCH"  # Python cannot read `null` (C1.9)
            return
        assert answer.error_code == wanted.get("errorCode")
        if "errorCode" not in wanted:
            assert answer.variant == wanted["variant"]
            is_on = answer.variant == "on"
            # The client has no connection here, and says so for what it gives out. (C1.6)
            assert answer.reason == ("CACHED" if is_on else wanted["reason"])
            assert answer.value == wanted.get("value", ABSENT)
    finally:
        client.close()


def test_rollout() -> None:
    data = fixture("rollout")
    for case in data["hashes"]:
        assert murmur3(case["text"].encode()) == case["hash"], case
    for case in data["buckets"]:
        assert rollout_bucket(case["flagKey"], case["targetingKey"]) == case["bucket"], case


def test_a_percentage_is_rounded_half_up() -> None:
    """C4.1: the bucket is 23,104, and Python's own rounding would go to the even number."""
    assert is_in_rollout("new-checkout", "user-2", 23.1045) is True
    assert is_in_rollout("new-checkout", "user-2", 23.1044) is False


def test_ten_thousand_targets() -> None:
    """C4.2"""
    targets = ask(f"{contract_server()[0]}/targets?seed=7&count=10000")
    assert len(targets) == 10_000
    wrong = [
        each
        for each in targets
        if is_in_rollout(each["flagKey"], each["targetingKey"], each["rolloutPct"]) is not each["isIn"]
    ]
    assert wrong == []


def test_half_of_a_surrogate_pair_counts_as_the_replacement_character() -> None:
    """C4.5"""
    assert rollout_bucket("f", "a\ud83d") == rollout_bucket("f", "a\ufffd")
    assert rollout_bucket("f", "\ud83d\udea9") == rollout_bucket("f", "🚩")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (7, "7"),
        (-0.0, "0"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.1, "0.1"),
        (1e-6, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (True, None),
        (float("nan"), None),
        ([], None),
    ],
)
def test_a_number_is_the_targeting_key_that_javascript_writes(given: object, text: str | None) -> None:
    assert target_of(given) == text


def pieces(data: bytes) -> Iterator[list[bytes]]:
    yield [data]
    for cut in range(len(data) + 1):
        yield [data[:cut], data[cut:]]
    yield [data[at : at + 1] for at in range(len(data))]
    yield [piece for at in range(len(data)) for piece in (data[at : at + 1], b"")]


@named(fixture("event-stream")["cases"])
def test_event_stream(case: dict[str, Any]) -> None:
    data = bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode()
    wanted = [event["data"] for event in case["events"] if event.get("type", "message") == "message"]
    for cut in pieces(data):
        events: list[str] = []
        comments: list[str] = []
        retries: list[int] = []
        parser = EventParser(events.append, comments.append, retries.append)
        for piece in cut:
            parser.feed(piece)
        assert (events, len(comments), retries) == (wanted, case.get("comments", 0), case.get("retries", []))


@named(fixture("revisions")["cases"])
def test_revisions(case: dict[str, Any]) -> None:
    now = 0  # milliseconds, which do not add up in floating point as seconds
    gate = RevisionGate(lambda: now / 1000)
    asked: dict[str, int] = {}
    for step in case["steps"]:
        now += step.get("waitMs", 0)
        if "ask" in step:
            asked[step["ask"]] = gate.tick()
        if offer := step.get("offer"):
            at = asked[offer["askedAs"]] if "askedAs" in offer else None
            assert gate.judge(offer.get("revision"), is_sighting=offer["isSighting"], asked_at=at) == step["verdict"]
