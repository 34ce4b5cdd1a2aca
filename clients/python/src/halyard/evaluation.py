"""Flags, and whom they are on for: the same answers in every language. (C4.1)"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final, Literal, TypeAlias, TypeGuard

#: A value of JSON.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class NotGiven(Enum):
    """The type of :data:`NOT_GIVEN`."""

    NOT_GIVEN = "not given"


#: Stands for what was left out, where ``None`` means something.
NOT_GIVEN: Final = NotGiven.NOT_GIVEN

#: Whom a read is for: text, or a number, which counts as its text. ``None`` has no key, and is in no partial rollout.
TargetingKey: TypeAlias = str | int | float | NotGiven | None

#: A kind of read; `any` takes every value.
Kind: TypeAlias = Literal["boolean", "string", "integer", "float", "object", "any"]

Reason: TypeAlias = Literal["missing", "disabled", "static", "split", "untargeted"]


@dataclass(frozen=True, slots=True, eq=False)
class FlagState:
    """A flag as the server sent it."""

    enabled: bool
    #: ``NOT_GIVEN`` if the flag has no value; ``None`` is a value.
    value: Json | NotGiven = NOT_GIVEN
    #: Percentage of the targets that it is on for; ``None`` is everyone.
    rollout_pct: float | None = None

    def detached(self) -> FlagState:
        """The same state with a value that may be changed. (C1.11)"""
        value = self.value if self.value is NOT_GIVEN else copy_json(self.value)
        return FlagState(self.enabled, value, self.rollout_pct)

    def to_json(self) -> dict[str, Json]:
        """The state as the server writes it."""
        json: dict[str, Json] = {"enabled": self.enabled}
        if self.value is not NOT_GIVEN:
            json["value"] = self.value
        if self.rollout_pct is not None:
            json["rolloutPct"] = self.rollout_pct
        return json

    def is_same(self, other: FlagState) -> bool:
        """Whether both say the same, whatever the order of members."""
        return (
            self.enabled is other.enabled
            and self.rollout_pct == other.rollout_pct
            and _is_same(self.value, other.value)
        )


#: All flags of an environment. A map is never changed, only replaced.
FlagMap: TypeAlias = Mapping[str, FlagState]


def evaluate(key: str, state: FlagState | None, target: str | NotGiven | None) -> tuple[bool, Reason]:
    """Whether a flag is on for a target, and why: the one place that decides it.

    ``untargeted`` is a partial rollout without a targeting key: on, as its switch says; OpenFeature refuses it instead.
    """
    if state is None:
        return False, "missing"
    if not state.enabled:
        return False, "disabled"
    pct = state.rollout_pct
    if pct is None or pct >= 100:
        return True, "static"
    if target is NOT_GIVEN and pct > 0:
        return True, "untargeted"
    return isinstance(target, str) and is_in_rollout(key, target, pct), "split"


def is_in_rollout(flag_key: str, targeting_key: str, rollout_pct: float) -> bool:
    """Whether a target is in a rollout of so many per cent."""
    exact = rollout_pct * 1000
    threshold = math.floor(exact)
    if exact - threshold >= 0.5:  # half up; Python's own `round` goes to the even number
        threshold += 1
    return rollout_bucket(flag_key, targeting_key) < threshold


def rollout_bucket(flag_key: str, targeting_key: str) -> int:
    """The bucket of a target for a flag, 0 to 99,999. The environment takes no part: staging rehearses production."""
    return murmur3(_utf8(f"{flag_key}:{targeting_key}")) * 100_000 >> 32


def murmur3(data: bytes) -> int:
    """MurmurHash3, x86, 32 bits, seed 0."""
    mask = 0xFFFFFFFF
    whole = len(data) & ~3
    digest = 0
    for block in struct.unpack_from(f"<{whole >> 2}I", data):
        block = block * 0xCC9E2D51 & mask
        digest ^= (block << 15 | block >> 17) * 0x1B873593 & mask
        digest = ((digest << 13 | digest >> 19) & mask) * 5 + 0xE6546B64 & mask

    block = int.from_bytes(data[whole:], "little") * 0xCC9E2D51 & mask
    digest ^= ((block << 15 | block >> 17) & mask) * 0x1B873593 & mask
    digest ^= len(data)
    digest = (digest ^ digest >> 16) * 0x85EBCA6B & mask
    digest = (digest ^ digest >> 13) * 0xC2B2AE35 & mask
    return digest ^ digest >> 16


def target_of(given: object) -> str | NotGiven | None:
    """A targeting key as it is hashed; ``None`` for what is no key."""
    if given is NOT_GIVEN or isinstance(given, str):
        return given
    if isinstance(given, bool):
        return None
    if isinstance(given, int):
        return str(given)
    if not isinstance(given, float) or not math.isfinite(given):
        return None

    # As JavaScript writes numbers: a target must be the same in every language.
    if given.is_integer() and abs(given) < 1e21:
        return str(int(given))
    if 1e-6 <= abs(given) < 1e21:
        return format(Decimal(repr(given)), "f")
    mantissa, _, exponent = repr(given).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def copy_json(value: Json) -> Json:
    """A copy that may be changed. Values that cannot be changed are themselves."""
    if isinstance(value, dict):
        return {key: copy_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [copy_json(each) for each in value]
    return value


def kind_of(default: object) -> Kind | None:
    """The kind of read that a default stands for; ``None`` for what is no value."""
    if default is None:
        return "any"
    if isinstance(default, bool):
        return "boolean"
    if isinstance(default, str):
        return "string"
    if is_number(default):
        return "integer" if isinstance(default, int) else "float"
    return "object" if isinstance(default, (Mapping, Sequence)) else None


def fit(value: Json, kind: Kind | None) -> Json | NotGiven:
    """The value as such a read gives it; ``NOT_GIVEN`` if it is of another kind. Nothing is coerced. (C1.2)

    JSON has one type of number: a whole one is an integer however it was written, and a float read takes every number.
    """
    if kind == "any":
        return copy_json(value)
    if kind == "boolean":
        return value if isinstance(value, bool) else NOT_GIVEN
    if kind == "string":
        return value if isinstance(value, str) else NOT_GIVEN
    if kind == "object":
        return copy_json(value) if isinstance(value, (dict, list)) else NOT_GIVEN
    if kind is None or not is_number(value):
        return NOT_GIVEN
    if kind == "float":
        return float(value)
    return int(value) if isinstance(value, int) or value.is_integer() else NOT_GIVEN


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number; to Python ``True`` is one, to JSON it is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair counts as U+FFFD (C4.5)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    # To Python, 1 equals True. Between 1 and 1.0 there is no difference in JSON, but there is in Python.
    return type(one) is type(other) and one == other
