"""One thread that owns all state of a client: jobs and timers, one after the other, without locks."""

from __future__ import annotations

import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable

Job = Callable[[], object]

log = logging.getLogger("halyard")


class Clock:
    """Monotonic seconds, which tests make shorter: all durations of a client are in the seconds of its clock."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale

    def now(self) -> float:
        return time.monotonic() / self._scale

    def real(self, seconds: float) -> float:
        """So many seconds, as the operating system counts them."""
        return max(0.0, seconds * self._scale)


class Timer:
    """A job for later. Cancelling one that has run does nothing."""

    __slots__ = ("job",)

    def __init__(self, job: Job) -> None:
        self.job: Job | None = job

    def cancel(self) -> None:
        self.job = None


class Loop:
    """Runs jobs that any thread hands in, and timers, on a daemon thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Its `put` may be called from anywhere, also while the garbage is collected.
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = itertools.count()
        self._is_over = False
        self.thread = threading.Thread(target=self._run, name="halyard", daemon=True)

    def call(self, job: Job) -> None:
        """Runs a job soon. From any thread."""
        self._jobs.put(job)

    def call_and_wait(self, job: Job) -> None:
        """Runs a job, and returns when it is over, so that a flood of them waits where it comes from."""
        done = threading.Event()

        def run() -> None:
            try:
                job()
            finally:
                done.set()

        self._jobs.put(run)
        while not done.wait(0.2) and not self._is_over:
            pass

    def later(self, seconds: float, job: Job) -> Timer:
        """Runs a job after so many seconds. On the thread of the loop only."""
        timer = Timer(job)
        heapq.heappush(self._timers, (self._clock.now() + seconds, next(self._numbers), timer))
        return timer

    def end(self) -> None:
        """Ends the thread after the jobs that were handed in before. From any thread."""
        self._jobs.put(None)

    def _run(self) -> None:
        while True:
            job = self._due()
            if job is None:
                try:
                    job = self._jobs.get(timeout=self._until_next())
                except queue.Empty:
                    continue
                if job is None:
                    self._is_over = True
                    return
            try:
                job()
            except BaseException:  # also a listener that wants to exit: this is not the thread for it
                log.exception("a job failed; the client goes on")

    def _until_next(self) -> float | None:
        while self._timers and self._timers[0][2].job is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return None
        # A timer of hours is looked at again, because the longest wait differs between systems.
        return min(self._clock.real(self._timers[0][0] - self._clock.now()), 3600)

    def _due(self) -> Job | None:
        if not self._timers or self._timers[0][0] > self._clock.now():
            return None
        timer = heapq.heappop(self._timers)[2]
        job, timer.job = timer.job, None
        return job
