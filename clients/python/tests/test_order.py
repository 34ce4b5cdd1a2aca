"""How long a client waits before it tries again. (C2.12, C2.13, C2.14, C2.15)"""

from __future__ import annotations

import email.utils
import time

import pytest

from halyard import FlagsError
from halyard._http import parse_retry_after
from halyard._order import Backoff

BROKEN = FlagsError("network_error", "")
REFUSED = FlagsError("invalid_api_key", "", status=401)


def delays(error: FlagsError, chance: float, first: float | None = None) -> list[float]:
    backoff = Backoff(lambda: chance)
    backoff.first = first or backoff.first
    return [backoff.delay_after(error) for _ in range(8)]


def test_delays_double_from_1_to_30_seconds_with_full_jitter() -> None:
    assert delays(BROKEN, 1) == [1, 2, 4, 8, 16, 30, 30, 30]
    assert delays(BROKEN, 0.5) == [0.5, 1, 2, 4, 8, 15, 15, 15]
    assert delays(BROKEN, 0) == [0] * 8
    assert delays(BROKEN, 1, first=10)[:3] == [10, 20, 30]


def test_after_a_refusal_they_double_from_1_to_5_minutes_of_which_the_upper_half_is_random() -> None:
    assert delays(REFUSED, 1)[:4] == [60, 120, 240, 300]
    assert delays(REFUSED, 0)[:4] == [30, 60, 120, 150]


def test_what_the_server_named_comes_before_the_jitter() -> None:
    assert delays(FlagsError("rate_limited", "", status=429, retry_in=7), 0.5)[:2] == [7.5, 8]


def test_failures_are_forgotten() -> None:
    backoff = Backoff(lambda: 1)
    assert [backoff.delay_after(BROKEN) for _ in range(3)] == [1, 2, 4]
    backoff.start_again()
    assert backoff.delay_after(BROKEN) == 1
    assert max(backoff.delay_after(BROKEN) for _ in range(5_000)) == 30


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(None, None), ("7", 7), (" 0 ", 0), ("86400", 3600), ("-1", None), ("soon", None), ("1.5", None)],
)
def test_retry_after_in_seconds(text: str | None, seconds: float | None) -> None:
    assert parse_retry_after(text) == seconds


def test_retry_after_as_a_date() -> None:
    wait = parse_retry_after(email.utils.formatdate(time.time() + 100, usegmt=True))
    assert wait is not None
    assert 60 < wait <= 100
    assert parse_retry_after("Mon, 01 Jan 2001 00:00:00 GMT") is None
