"""Flag maps made of foreign data, and what changes from one to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from .errors import FlagsError
from .evaluation import NOT_GIVEN, FlagMap, FlagState, Json, is_number

#: Deeper values are damaged. (C2.7)
MAX_DEPTH = 64


def parse_json(text: str | bytes) -> object:
    """Like ``json.loads``, but takes only JSON, and throws ``invalid_response``, which does not quote what came."""
    try:
        return cast(object, json.loads(text, parse_constant=_refuse, parse_int=_integer))
    except (ValueError, RecursionError):
        raise FlagsError("invalid_response", "it is not JSON") from None


def parse_flags(data: object, *, detach: bool = False) -> tuple[dict[str, FlagState], list[str]]:
    """Reads a map: its flags, and the keys of members that are no flag states, which hold no other back. (C2.7)

    Throws ``invalid_response`` for data of another shape. (C2.8) What is not made of JSON's text has to be detached.
    """
    flags: dict[str, FlagState] = {}
    rejected: list[str] = []
    if not isinstance(data, Mapping):
        raise FlagsError("invalid_response", "it is not a flag map")

    for key, member in data.items():
        state = _parse_state(member)
        if state is None:
            rejected.append(key)
        else:
            flags[key] = state.detached() if detach else state
    # Members, but no flag among them: an error body or a wrapper, not a map.
    if rejected and not flags:
        raise FlagsError("invalid_response", "it is not a flag map")
    return flags, rejected


def reconcile(previous: FlagMap, following: dict[str, FlagState]) -> list[str]:
    """The keys that were added, changed or removed. States that did not change become the same objects as before."""
    changed = []
    for key, state in following.items():
        before = previous.get(key)
        if before is not None and before.is_same(state):
            following[key] = before
        else:
            changed.append(key)
    changed.extend(key for key in previous if key not in following)
    return changed


def _parse_state(member: object) -> FlagState | None:
    if not isinstance(member, Mapping):
        return None
    enabled = member.get("enabled")
    value = member.get("value", NOT_GIVEN)
    pct = member.get("rolloutPct", NOT_GIVEN)
    # A percentage that cannot be read is not 100: the flag would be on for everyone.
    if not isinstance(enabled, bool) or not _is_shallow(value, MAX_DEPTH):
        return None
    if pct is NOT_GIVEN:
        return FlagState(enabled, value)
    return FlagState(enabled, value, pct) if is_number(pct) and 0 <= pct <= 100 else None


def _is_shallow(value: object, depth: int) -> bool:
    if isinstance(value, dict):
        return depth > 0 and all(_is_shallow(each, depth - 1) for each in value.values())
    if isinstance(value, list):
        return depth > 0 and all(_is_shallow(each, depth - 1) for each in value)
    return True


def _refuse(constant: str) -> Json:
    raise ValueError(constant)  # NaN and Infinity are not JSON


def _integer(digits: str) -> int | float:
    # Python refuses integers of thousands of digits, and with one of them the whole map.
    return int(digits) if len(digits) <= 300 else float(digits)
