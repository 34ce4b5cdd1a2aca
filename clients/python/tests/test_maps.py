"""Maps of foreign data. (C2.7, C2.8, C3.5)"""

from __future__ import annotations

import json
from typing import Any

import pytest

from halyard import FlagsError
from halyard._maps import parse_flags, parse_json, reconcile


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("state", "is_taken"),
    [
        ({"enabled": True, "value": None, "other": 1}, True),
        ({"enabled": True, "value": nested(64)}, True),
        ({"enabled": True, "value": nested(65)}, False),
        ({"enabled": True, "rolloutPct": 0}, True),
        ({"enabled": True, "rolloutPct": 100.5}, False),
        ({"enabled": True, "rolloutPct": None}, False),
        ({"enabled": True, "rolloutPct": True}, False),
        ({"enabled": 1}, False),
        ([True], False),
    ],
)
def test_c2_7_a_member_that_is_no_flag_state_is_left_out(state: Any, is_taken: bool) -> None:
    flags, rejected = parse_flags(parse_json(json.dumps({"good": {"enabled": True}, "odd": state})))
    assert ("odd" in flags, rejected) == (is_taken, [] if is_taken else ["odd"])
    if not is_taken:
        with pytest.raises(FlagsError, match="flag map"):
            parse_flags({"odd": state})


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', "[" * 100_000, '"\\ud83d'])
def test_c2_8_what_is_not_json_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(FlagsError) as caught:
        parse_json(text)
    assert str(caught.value) == "invalid_response: it is not JSON"


def test_a_number_of_thousands_of_digits_holds_back_no_other_flag() -> None:
    flags, _ = parse_flags(parse_json('{"a": {"enabled": true, "value": %s}, "b": {"enabled": true}}' % ("9" * 5000)))
    assert sorted(flags) == ["a", "b"]


def test_c3_5_members_in_another_order_are_no_change_and_another_type_is_one() -> None:
    before, _ = parse_flags({"a": {"enabled": True, "value": {"x": 1, "y": [True]}}, "b": {"enabled": True}})
    same, _ = parse_flags({"b": {"enabled": True}, "a": {"value": {"y": [True], "x": 1}, "enabled": True}})
    assert reconcile(before, same) == []
    assert same["a"] is before["a"]
    other, _ = parse_flags({"a": {"enabled": True, "value": {"x": 1, "y": [1]}}, "c": {"enabled": True}})
    assert sorted(reconcile(before, other)) == ["a", "b", "c"]
