"""Keeps the map of one environment new, for ever."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from ._events import EventParser
from ._http import Exchange, refuse_endless, revision_of
from ._loop import Loop, Timer, log
from ._maps import parse_flags, parse_json, reconcile
from ._order import Backoff, RevisionGate
from ._state_file import StateKeeper
from ._usage import Usage
from .errors import FlagsError
from .evaluation import FlagMap, FlagState
from .options import Target

#: `connecting`: no map yet, the first load is under way. `ready`: the map is current. `stale`: it may be out of date.
#: `failed`: the first load failed and there is still no map. (C3.1)
Status: TypeAlias = Literal["connecting", "ready", "stale", "failed", "closed"]

#: How long the first stream may take before REST is asked, and the stream that follows a live one. (C2.11)
FIRST_POLL, NEXT_POLL = 1.0, 5.0
#: How much later REST is asked after it has refused the key or the environment. (C2.15)
REFUSED_POLL = 240.0
#: How long to stay with a node that is behind: this, and up to half as much again. (C2.20)
BEHIND = 4.0
#: A stream that was open for so long makes the next failure a first one. (C2.12)
HEALTHY = 60.0
#: Bounds of what `retry:` may set. (C2.13)
LEAST_RETRY, MOST_RETRY = 0.1, 30.0

_T = TypeVar("_T")
#: The flags of a map, and the keys of members that were left out.
_Parsed: TypeAlias = tuple[dict[str, FlagState], list[str]]


class _Left(FlagsError):
    """A stream was left on purpose. No server can send it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of flags: the keys that were added, changed or removed."""

    keys: list[str]
    #: The revision of the new flags, if the server numbers them.
    revision: int | None


#: What is heard of a follower.
Event: TypeAlias = Status | Change | FlagsError


class Follower:
    """Follows the stream, and asks REST while there is none; each has its own waits. (C2)

    All that changes does so on the thread of the loop. Readers on other threads see each map as a whole, because it is
    replaced at once. The network is on threads that only wait: one for the stream, and one for each other request.
    """

    def __init__(self, target: Target, emit: Callable[[Event], None], seed: FlagMap | None) -> None:
        self.target = target
        #: The newest map. Never changed, only replaced.
        self.flags: FlagMap = {} if seed is None else seed
        #: Whether the first map was a bootstrap or came from a file, and whether one has come from the server.
        self.is_seeded = seed is not None
        self.has_map = False
        self.status: Status = "stale" if self.is_seeded else "connecting"
        #: The last failure, until something succeeds.
        self.error: FlagsError | None = target.error
        #: Set once the first load is over, one way or the other.
        self.settled = threading.Event()
        self.keeper: StateKeeper | None = None
        self.usage: Usage | None = None

        #: Called on the thread of the loop; raises nothing.
        self._emit = emit
        self._waiters: list[Callable[[], None]] = []
        self._loop = Loop(target.clock)
        self.gate = RevisionGate(target.clock.now)
        self._backoff = Backoff()
        self._exchanges: set[Exchange] = set()
        self._rejected: set[str] = set()
        self._etag: str | None = None
        self._lapse: Timer | None = None
        #: When the map was last known to be current, by the wall clock.
        self.current_at = 0.0

        self._poll_timer: Timer | None = None
        self._rest: Literal["unasked", "asked", "failed"] = "unasked"
        self._rest_at = 0.0

        #: The stream that is open, and whether its map is the newest.
        self._stream: Exchange | None = None
        self.is_live = False
        self._stream_error: FlagsError | None = None
        self._opened_at: float | None = None
        self._frames = 0
        self._leave_timer: Timer | None = None

    # The life

    def start(self) -> None:
        """Begins. Raises ``RuntimeError`` if no thread can be started."""
        self._loop.call(self._begin)
        self._loop.thread.start()

    def close(self) -> None:
        """Ends everything, soon. From any thread, also of a forked child, whose parent goes on. (C8.1)"""
        self._loop.call(self._close)

    def wait_closed(self, seconds: float) -> None:
        """Waits for the end, unless this is called by a listener."""
        if not self.is_own_thread() and self._loop.thread.is_alive():
            self._loop.thread.join(seconds)

    def continue_from(self, past: Follower, forked_at: float) -> None:
        """Takes over the map of the parent process, before the start."""
        self.flags, self.has_map, self.is_seeded = past.flags, past.has_map, past.is_seeded
        self.gate.known, self.error, self.current_at = past.gate.known, past.error, past.current_at
        self.status = past.status
        if self.status == "ready" and self.target.clock.now() - forked_at > self.target.stale_after:
            self.status = "stale"
        if past.settled.is_set():
            self.settled.set()

    def abandon(self) -> None:
        """Closes a forked child's copies of connections: one that both hold would stay open when one of them ends."""
        self._emit = lambda _: None  # greenlets, which are no threads, go on in a child
        for exchange in list(self._exchanges):
            exchange.abandon()

    def is_own_thread(self) -> bool:
        """Whether a listener asks, who must not wait for what this thread does."""
        return threading.current_thread() is self._loop.thread

    def when_settled(self, waiter: Callable[[], None]) -> None:
        """Calls back, on the loop's thread, once the first load is over."""
        self._loop.call(lambda: waiter() if self.settled.is_set() else self._waiters.append(waiter))

    def _settle(self) -> None:
        self.settled.set()
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter()

    def later(self, seconds: float, job: Callable[[], None]) -> None:
        """Runs a job on the loop's thread."""
        self._loop.call(partial(self._loop.later, seconds, job))

    def _begin(self) -> None:
        if self.target.error:
            self.report(self.target.error)
            self._give_up()
            return
        if self.status == "ready":  # it continues from a parent process
            self._lapse_in(self.target.stale_after)
        self._poll_in(FIRST_POLL)
        self._open()

    def _close(self) -> None:
        if self.status == "closed":
            return
        if self.keeper:
            self.keeper.leave(self)
        self._become("closed")
        self._settle()
        for exchange in list(self._exchanges):
            exchange.abort(FlagsError("client_closed", "the client is closed"))
        if self.usage:
            self.usage.close()
        self._loop.end()

    # The map and the status

    def _become(self, status: Status) -> None:
        # A client with a bootstrap is `stale` where another one would be `connecting` or `failed`.
        seen: Status = "stale" if status == "failed" and self.is_seeded else status
        if seen == self.status or self.status == "closed":
            return
        was_ready = self.status == "ready"
        self.status = seen
        if self.keeper and was_ready and seen == "stale":
            self.keeper.write(self)
        if self.keeper and seen == "ready":
            self.keeper.write(self)
        self._emit(seen)

    def _confirm(self) -> None:
        """The map is current, until `_lapse_in`."""
        self.current_at = time.time()
        if self._lapse:
            self._lapse.cancel()
            self._lapse = None
        self._become("ready")

    def _lapse_in(self, seconds: float) -> None:
        """The map is stale in so many seconds, counted from the first call, unless it is confirmed before. (C3.3)"""
        if self.status == "ready" and self._lapse is None:
            self._lapse = self._loop.later(seconds, partial(self._become, "stale"))

    def _give_up(self) -> None:
        """The first load has failed, unless there is a map. (C3.2)"""
        if self.has_map or self.status == "closed":
            return
        self._become("failed")
        self._settle()

    def report(self, error: FlagsError) -> None:
        """Brings a failure to the application."""
        if error.flag_key is None:
            self.error = error
        if self.status != "closed":
            self._emit(error)

    def _offer(
        self,
        parsed: _Parsed | None,
        revision: int | None,
        *,
        is_sighting: bool,
        asked_at: int | None = None,
        etag: str | None = None,
    ) -> bool:
        """Takes a map unless the one at hand is newer. Returns whether it was taken.

        Without a map, the one at hand has that revision, too. (C2.19)
        """
        verdict = self.gate.judge(revision, is_sighting=is_sighting, asked_at=asked_at)
        if verdict == "keep" or parsed is None:
            return verdict != "keep"

        flags, rejected = parsed
        changed = reconcile(self.flags, flags)
        if changed or not self.has_map:
            self.flags = flags
        is_first, self.has_map = not self.has_map, True
        self.error = None
        self._etag = etag
        # With the first map, listeners hear how the client stands before they hear of the flags.
        if is_first:
            if is_sighting:
                self.current_at = time.time()
            self._become("ready" if is_sighting else "stale")
            self._settle()
        if changed:
            self._emit(Change(changed, revision))
            # Flags that were never known to be current have no age to be kept with.
            if self.keeper and self.current_at:
                self.keeper.note_change(self)

        if verdict == "reset":
            self.report(FlagsError("revision_reset", "the revisions restarted lower"))
        for key in rejected:
            if key not in self._rejected:
                self._rejected.add(key)
                self.report(FlagsError("invalid_response", f"the flag {key} is not a flag state", flag_key=key))
        return True

    # REST

    def _stop_polling(self) -> None:
        if self._poll_timer:
            self._poll_timer.cancel()
            self._poll_timer = None

    def _poll_in(self, seconds: float) -> None:
        """Asks REST, but not before the time that REST itself has named. (C2.14)"""
        self._stop_polling()
        self._poll_timer = self._loop.later(max(seconds, self._rest_at - self.target.clock.now()), self._poll)

    def _interval(self, error: FlagsError | None = None) -> float:
        """How long until REST is asked again: a tenth more or less, so that clients spread."""
        refused = error is not None and error.is_refusal
        return (REFUSED_POLL if refused else self.target.poll_interval) * (0.9 + random.random() / 5)

    def _poll(self) -> None:
        self._poll_timer = None
        if self._rest == "unasked":
            self._rest = "asked"
        exchange, stream, asked_at, known = Exchange(self.target), self._stream, self.gate.tick(), self._etag

        def ask() -> Callable[[], bool]:
            response = exchange.get("/v1/flags", "application/json", known)
            usage, revision = response.headers.get("X-Flags-Usage"), revision_of(response)
            is_stale, etag = "X-Flags-Stale" in response.headers, response.headers.get("ETag")
            is_unchanged = response.status == 304
            parsed = None
            if is_unchanged:
                exchange.close()
            else:
                parsed = parse_flags(self._flags_of(exchange.json(response)))
            log.debug("flags loaded, revision %s", revision)

            def take() -> bool:
                self.hear_usage(usage)
                is_sighting = not self.is_live and not is_stale
                taken = self._offer(parsed, revision, is_sighting=is_sighting, asked_at=asked_at, etag=etag)
                return taken and not is_stale

            return take

        def done(take: Callable[[], bool] | None, error: FlagsError | None) -> None:
            self._exchanges.discard(exchange)
            self._on_rest(take, error, stream)

        self._work("halyard-rest", exchange, ask, done)

    def _flags_of(self, body: object) -> object:
        # An answer for another environment is refused. (C2.9)
        if not isinstance(body, dict) or body.get("environment", self.target.environment) != self.target.environment:
            return None
        return body.get("flags")

    def _on_rest(self, take: Callable[[], bool] | None, error: FlagsError | None, stream: Exchange | None) -> None:
        """Handles REST's answer, and plans the next question."""
        if self.status == "closed":
            return
        is_current = take is not None and take()
        if take and not self.is_live:
            # An answer says that the map is current, but only for a while.
            if is_current:
                self._confirm()
            self._lapse_in(self.target.stale_after + 2 * self.target.poll_interval)
        known = self._stream_error
        if error and not (known and known.code == error.code):
            self.report(error)

        self._rest_at = self.target.clock.now() + ((error and error.retry_in) or 0)
        if self.is_live:
            return
        is_repeated = self._rest == "failed"
        self._rest = "failed" if error else "asked"
        if is_current and stream is not None and stream is self._stream:
            self._go_live()
        # The stream may have asked for another poll since, before REST's own delay was known.
        elif self._poll_timer is None or (error and (error.retry_in or error.is_refusal)):
            self._poll_in(self._interval(error))
        # A stream that is open may bring nothing for ever, so REST's second failure in a row is enough by itself.
        if error and (self._stream_error or is_repeated):
            self._give_up()

    # The stream

    def _open(self) -> None:
        exchange = Exchange(self.target)
        self._opened_at, self._frames = None, 0
        self._work(
            "halyard-stream", exchange, partial(self._read, exchange), lambda _, error: self._lost(exchange, error)
        )

    def _read(self, exchange: Exchange) -> None:
        """Follows a stream to its end. On a thread of its own."""
        response = exchange.get("/v1/stream", "text/event-stream")
        if not re.match(r"text/event-stream\s*(;|$)", response.headers.get("Content-Type", ""), re.IGNORECASE):
            exchange.close()
            raise FlagsError("invalid_response", "it is not an event stream")
        revision = revision_of(response)
        usage = response.headers.get("X-Flags-Usage")
        self._loop.call(partial(self._on_open, exchange, revision, usage))

        def on_data(data: str) -> None:
            nonlocal revision
            exchange.alive()
            parsed = parse_flags(parse_json(data))
            self._loop.call_and_wait(partial(self._on_frame, exchange, parsed, revision))
            revision = None if revision is None else revision + 1

        def on_comment(text: str) -> None:
            exchange.alive()
            if text.startswith("usage "):
                self._loop.call(partial(self.hear_usage, text[6:]))

        parser = EventParser(on_data, on_comment, lambda ms: self._loop.call(partial(self._on_retry, ms)))
        for piece in exchange.body(response):
            parser.feed(piece)
            refuse_endless(parser.pending)

    def _on_open(self, exchange: Exchange, revision: int | None, usage: str | None) -> None:
        self._stream, self._opened_at = exchange, self.target.clock.now()
        log.debug("stream opened, revision %s", revision)
        self.hear_usage(usage)
        if revision is None:
            self._poll_in(0)  # no first frame is promised (C2.6)

    def _on_frame(self, exchange: Exchange, parsed: _Parsed, revision: int | None) -> None:
        if self.status == "closed":
            return
        self._frames += 1
        if self._offer(parsed, revision, is_sighting=self._frames == 1):
            self._stay()
            self._go_live()
        elif self._leave_timer is None:
            self._leave_timer = self._loop.later(
                BEHIND * (1 + random.random() / 2), partial(exchange.abort, _Left("left", "its node is behind"))
            )

    def _on_retry(self, ms: int) -> None:
        self._backoff.first = min(max(ms / 1000, LEAST_RETRY), MOST_RETRY)

    def _go_live(self) -> None:
        self.is_live = True
        self._rest = "asked"
        self._stream_error = None
        self._stop_polling()
        self._confirm()

    def _stay(self) -> None:
        if self._leave_timer:
            self._leave_timer.cancel()
            self._leave_timer = None

    def _lost(self, exchange: Exchange, error: FlagsError | None) -> None:
        """Handles the end of a stream, without an error if the server ended it in good order, and plans the next."""
        self._exchanges.discard(exchange)
        self._stay()
        if self.status == "closed":
            return
        was_live, self.is_live, self._stream = self.is_live, False, None
        log.debug("stream ended")
        if was_live:
            self.current_at = time.time()
        self._lapse_in(self.target.stale_after)
        if isinstance(error, _Left):
            if self._poll_timer is None:
                self._poll_in(self._interval())
            self._open()
            return

        open_for = -1.0 if self._opened_at is None else self.target.clock.now() - self._opened_at
        is_healthy = open_for >= HEALTHY
        ended = error or FlagsError("stream_error", "the stream ended")
        if open_for >= 0 and ended.code == "network_error":
            ended = FlagsError("stream_error", str(ended.args[0]))
        self._stream_error = ended
        if self._rest == "unasked":
            self._poll_in(0)
        elif self._poll_timer is None:
            self._poll_in(NEXT_POLL if was_live else self._interval())

        # Silence was slow enough by itself to begin again quickly.
        if is_healthy or (open_for >= 0 and ended.code == "timeout"):
            self._backoff.start_again()
        self._loop.later(self._backoff.delay_after(ended), self._open)
        # A long stream that the server closes is not an error.
        if error or not is_healthy:
            self.report(ended)
        if self._rest == "failed":
            self._give_up()

    # What both use

    def hear_usage(self, seconds: str | None) -> None:
        """Begins to count reads if the server asks for reports. (C7.1)"""
        if seconds is None or not self.target.reports_usage or self.status == "closed":
            return
        if self.usage is None:
            self.usage = Usage(self.target, self._loop, self.work)
        self.usage.hear(seconds)

    def work(
        self, name: str, job: Callable[[Exchange], _T], done: Callable[[_T | None, FlagsError | None], None]
    ) -> None:
        """Runs a job that waits on a thread of its own, and `done` with its result on the loop's."""
        exchange = Exchange(self.target)

        def over(result: _T | None, error: FlagsError | None) -> None:
            self._exchanges.discard(exchange)
            done(result, error)

        self._work(name, exchange, partial(job, exchange), over)

    def _work(
        self,
        name: str,
        exchange: Exchange,
        job: Callable[[], _T],
        done: Callable[[_T | None, FlagsError | None], None],
    ) -> None:
        self._exchanges.add(exchange)

        def run() -> None:
            result, error = None, None
            try:
                result = job()
            except FlagsError as failure:
                error = failure.with_traceback(None)  # it would keep everything here alive
            except Exception as unexpected:  # never the end of following
                log.exception("%s failed", name)
                error = FlagsError("network_error", type(unexpected).__name__)
            self._loop.call(partial(done, result, error))

        try:
            threading.Thread(target=run, name=name, daemon=True).start()
        except RuntimeError:  # the process has no thread left, or is ending
            failure = FlagsError("network_error", "no thread could be started")
            self._loop.call(partial(done, None, failure))
