"""Which map may replace the one at hand, and how long to wait before trying again."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal, TypeAlias

from .errors import FlagsError

#: What to do with a map: take it, keep the newer one, or take it because the revisions started again.
Verdict: TypeAlias = Literal["take", "keep", "reset"]

#: How long lower revisions must persist before they are believed, and on how many connections. (C2.21)
RESET_AFTER = 60.0
RESET_SIGHTINGS = 3

#: First and greatest delay of a failure that may pass by itself (C2.12), and of a refusal (C2.15).
FIRST_DELAY, MAX_DELAY = 1.0, 30.0
FIRST_SLOW_DELAY, MAX_SLOW_DELAY = 60.0, 300.0


class RevisionGate:
    """Keeps the order of maps: never an older one over a newer one, whatever node or way it comes from. (C2.19)

    A restored database starts lower. One low answer is a node that lags; low answers only, on several connections over
    a minute, are a service that has moved back: then the map is taken. (C2.21)
    """

    def __init__(self, now: Callable[[], float], known: int | None = None) -> None:
        self._now = now
        #: The revision of the map at hand.
        self.known = known
        self._ticks = 0
        self._taken_at = 0
        self._lower_since = 0.0
        self._sightings = 0

    def tick(self) -> int:
        """The place of a request in the order of requests and frames."""
        self._ticks += 1
        return self._ticks

    def judge(self, revision: int | None, *, is_sighting: bool, asked_at: int | None = None) -> Verdict:
        """Judges a map and, unless it is kept out, takes note of it.

        ``is_sighting``: it says where the service is now, as a first frame does. Frames have no ``asked_at``.
        """
        asked_at = self.tick() if asked_at is None else asked_at
        verdict: Verdict = "take"
        if revision is None or self.known is None:
            if asked_at < self._taken_at:
                return "keep"
        elif revision < self.known:
            if not is_sighting or not self._is_reset():
                return "keep"
            verdict = "reset"

        self.known = self.known if revision is None else revision
        self._taken_at = max(self._taken_at, asked_at)
        self._sightings = 0
        return verdict

    def _is_reset(self) -> bool:
        if self._sightings == 0:
            self._lower_since = self._now()
        self._sightings += 1
        return self._sightings >= RESET_SIGHTINGS and self._now() - self._lower_since >= RESET_AFTER


class Backoff:
    """Doubling with full jitter; after a refusal slower, with the upper half random."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._failures = 0
        #: The first delay, which a server may set with ``retry:``. (C2.13)
        self.first = FIRST_DELAY

    def delay_after(self, error: FlagsError) -> float:
        """Seconds to wait after one more failure: never less than the server asked for, with the jitter on top."""
        doubling = 2.0 ** min(self._failures, 60)
        self._failures += 1
        if error.is_refusal:
            delay = min(FIRST_SLOW_DELAY * doubling, MAX_SLOW_DELAY) * (0.5 + self._chance() / 2)
        else:
            delay = min(self.first * doubling, MAX_DELAY) * self._chance()
        return (error.retry_in or 0) + delay

    def start_again(self) -> None:
        """Forgets the failures so far."""
        self._failures = 0
