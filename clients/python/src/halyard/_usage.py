"""Reports how often flags are read, to a project that asks for it. (C7)"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Protocol

from ._http import Exchange
from ._loop import Loop, Timer, log
from .errors import FlagsError
from .options import Target

#: Least time between two reports, whatever the server says, and how long the last one may take.
LEAST_INTERVAL = 60.0
CLOSE_SECONDS = 1.0

#: What one report may have.
MAX_FLAGS, MAX_COUNT = 1_000, 1_000_000_000

Counts = dict[str, list[int]]


class Worker(Protocol):
    def __call__(
        self, name: str, job: Callable[[Exchange], None], done: Callable[[None, FlagsError | None], None]
    ) -> None: ...


class Usage:
    """Counts reads on any thread, and sends the counts on the loop's."""

    def __init__(self, target: Target, loop: Loop, work: Worker) -> None:
        self._target = target
        self._loop = loop
        self._work = work
        #: Reads of each flag by `on` and `off`; ``None`` while the server does not ask.
        self._counts: Counts | None = None
        self._interval = LEAST_INTERVAL
        self._timer: Timer | None = None

    def count(self, key: str, is_on: bool) -> None:
        """Counts a read. Without a lock: where threads meet, a count may be lost, but no read waits."""
        counts = self._counts
        if counts is not None:
            count = counts.get(key) or counts.setdefault(key, [0, 0])
            count[0 if is_on else 1] += 1

    def hear(self, seconds: str) -> None:
        """The server asks for reports, so many seconds apart."""
        asked = float(seconds) if seconds.isascii() and seconds.isdigit() else 0.0
        self._interval = max(LEAST_INTERVAL, asked)
        if self._counts is None:
            self._counts = {}
        if self._timer is None:
            self._schedule()

    def close(self) -> None:
        """Sends what is left, and waits a second for it at most. (C7.4)"""
        counts, self._counts = self._counts, None
        deadline = self._target.clock.now() + CLOSE_SECONDS
        while counts and (left := deadline - self._target.clock.now()) > 0:
            try:
                _send(self._target, _take(counts), left, Exchange(self._target))
            except FlagsError:
                return

    def _schedule(self) -> None:
        # A tenth later at most, so that clients spread.
        self._timer = self._loop.later(self._interval * (1 + random.random() / 10), self._report)

    def _report(self) -> None:
        counts = self._counts
        if not counts:
            self._schedule()
            return
        self._counts = {}
        self._send_next(counts)

    def _send_next(self, counts: Counts) -> None:
        part = _take(counts)
        job = partial(_send, self._target, part, self._target.request_timeout)
        self._work("halyard-usage", job, lambda _, error: self._on_sent(part, counts, error))

    def _on_sent(self, part: Counts, rest: Counts, error: FlagsError | None) -> None:
        status = error.status if error else 204
        log.debug("usage reported, %s", status or "no answer")
        if self._counts is None:
            return
        if status in (401, 404, 405):  # the server has stopped asking, or takes no reports (C7.3)
            self._counts = self._timer = None
            return
        if status in (204, 400):  # a report that is refused would be refused again
            if rest:
                self._send_next(rest)
                return
        else:
            for key, (on, off) in [*part.items(), *rest.items()]:
                count = self._counts.setdefault(key, [0, 0])
                count[0] += on
                count[1] += off
        self._schedule()


def _take(counts: Counts) -> Counts:
    keys = list(counts)[:MAX_FLAGS]
    return {key: counts.pop(key) for key in keys}


def _send(target: Target, counts: Counts, timeout: float, exchange: Exchange) -> None:
    """Sends one report. Raises unless it was accepted."""
    flags = {key: {"on": min(on, MAX_COUNT), "off": min(off, MAX_COUNT)} for key, (on, off) in counts.items()}
    body = json.dumps({"env": target.environment, "flags": flags}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    try:
        response = exchange.send("POST", "/usage/v1", headers, body, timeout)
        if response.status != 204:
            raise FlagsError("usage", "it was not accepted", status=response.status)
    finally:
        exchange.close()
