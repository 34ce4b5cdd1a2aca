"""The client: reads from memory, and the life of what keeps it new."""

from __future__ import annotations

import asyncio
import atexit
import os
import ssl
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar, cast

from ._follower import Change, Event, Follower, Status
from ._loop import log
from ._maps import parse_flags
from ._state_file import StateKeeper, read_state
from .errors import FlagsError
from .evaluation import (
    NOT_GIVEN,
    FlagMap,
    FlagState,
    NotGiven,
    TargetingKey,
    evaluate,
    fit,
    kind_of,
    target_of,
)
from .options import read_target, seconds

_T = TypeVar("_T")
_Heard = TypeVar("_Heard")

#: The same kind of failure is logged at most this often, in seconds.
QUIET = 60.0

#: What `close()` waits for at most: the last report of reads has a second.
CLOSE_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Ready:
    """How a wait for the first load ended. ``bootstrapped``: with the flags of the last run, or of the options."""

    status: Literal["ready", "bootstrapped", "failed", "timeout"]
    error: FlagsError | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of a read."""

    key: str
    value: object
    enabled: bool
    #: ``static``, ``split``, ``disabled``, ``default`` (on, without a value) or ``error``.
    reason: str
    #: ``flag_not_found``, ``not_ready``, ``type_mismatch`` or ``targeting_key_missing``; ``None`` if nothing is wrong.
    error_code: str | None
    #: Whether the flags may be out of date.
    stale: bool
    #: Whom the read was for; ``None`` without a key.
    targeting_key: str | None


class Client:
    """The flags of one environment, in memory. Make one for a process, and close it at its end.

    Nothing happens at construction, so that a program may fork first: the client connects at the first read, or
    ``ready()``. A forked child has a connection of its own from its first read on. Listeners are called on the client's
    thread: return soon.

    :param api_key: the project key. It goes into one header, and appears nowhere else.
    :param base_url: address of the service. Default: the variable ``HALYARD_URL``, or ``http://127.0.0.1:7070``.
    :param targeting_key: the target of reads that name none; ``None`` is in no partial rollout.
    :param bootstrap: flags to answer with until the first load, as ``{"key": {"enabled": True}}``.
    :param state_path: a file for the flags of the last run, with which the next start answers.
    :param state_max_age: seconds after which these flags are not used.
    :param on_error: called with each failure. Without it, each kind is logged once a minute (logger ``halyard``).
    :param allow_insecure_http: lets the key go over plain ``http:`` to another machine.
    :param report_usage: whether to report how often flags are read, to a project that asks for it.
    :param ssl_context: for certificates of your own authority.
    """

    def __init__(
        self,
        *,
        api_key: str,
        environment: str,
        base_url: str | None = None,
        targeting_key: TargetingKey = NOT_GIVEN,
        bootstrap: Mapping[str, Mapping[str, object]] | None = None,
        state_path: str | os.PathLike[str] | None = None,
        state_max_age: float | None = None,
        on_error: Callable[[FlagsError], object] | None = None,
        request_timeout: float = 5.0,
        ready_timeout: float = 5.0,
        stale_after: float = 30.0,
        poll_interval: float = 30.0,
        allow_insecure_http: bool = False,
        report_usage: bool = True,
        ssl_context: ssl.SSLContext | None = None,
        _time_scale: float = 1.0,
    ) -> None:
        self._target = read_target(
            api_key=api_key,
            environment=environment,
            base_url=base_url,
            allow_insecure_http=allow_insecure_http,
            request_timeout=request_timeout,
            stale_after=stale_after,
            poll_interval=poll_interval,
            report_usage=report_usage,
            ssl_context=ssl_context,
            time_scale=_time_scale,
        )
        self._reader = target_of(targeting_key)
        self._ready_timeout = seconds(ready_timeout, 5.0)
        self._on_error = on_error
        self._state_path = None if state_path is None else os.fspath(state_path)
        stored = self._state_path and read_state(self._state_path, self.environment, state_max_age)
        self._seed: FlagMap | None = stored or _read_bootstrap(bootstrap)

        self._change_listeners: list[Callable[[Change], object]] = []
        self._status_listeners: list[Callable[[Status], object]] = []
        self._read_listeners: list[Callable[[Evaluation], object]] = []
        self._telling = threading.local()
        self._quiet_until: dict[object, float] = {}
        self._mismatched: set[str] = set()

        #: Absent until it is needed; in a forked child absent again.
        self._follower: Follower | None = None
        self._followers: dict[None, Follower] = {}
        #: The follower of the parent process, and when that was left.
        self._past: tuple[Follower, float] | None = None
        self._is_closed = False
        _clients.add(self)

    def __repr__(self) -> str:
        return f"<halyard.Client {self.environment} of {self._target.base_url}: {self.status}>"

    # Reads. None raises, none waits. (C1.1)

    def is_enabled(self, key: str, *, targeting_key: TargetingKey = NOT_GIVEN, fallback: bool = False) -> bool:
        """Whether a flag is on; the fallback if that is unknown."""
        follower = self._follower or self._wake()
        state = self._find(follower, key)
        if state is None:
            is_on, known, reason, error_code = fallback, False, "error", self._unknown(follower)
        elif state.rollout_pct is None and follower.usage is None and not self._read_listeners:
            return state.enabled  # the way of nearly every read
        else:
            is_on, reason = self._decide(follower, key, state, targeting_key)
            known, error_code = is_on, None
        if self._read_listeners:
            self._tell(key, is_on, known, reason, error_code, targeting_key)
        return is_on

    def get_value(self, key: str, default: _T, *, targeting_key: TargetingKey = NOT_GIVEN) -> _T:
        """The value, if the flag is on, has one, and it is of the default's type; ``None`` takes every type.

        Objects and lists are copies, which may be changed.
        """
        read = self._read(key, default, targeting_key)
        if self._read_listeners:
            self._tell(key, *read, targeting_key)
        return cast(_T, read[0])  # it is the default, or of its type

    def evaluate(self, key: str, default: object, *, targeting_key: TargetingKey = NOT_GIVEN) -> Evaluation:
        """The same, with the reason."""
        return self._tell(key, *self._read(key, default, targeting_key), targeting_key)

    def get_state(self, key: str) -> FlagState | None:
        """A flag as the server sent it."""
        state = self._find(self._follower or self._wake(), key)
        return state and state.detached()

    def all(self) -> dict[str, FlagState]:
        """All flags as the server sent them: a copy."""
        flags = (self._follower or self._wake()).flags
        return {key: state.detached() for key, state in flags.items()}

    # The state

    @property
    def environment(self) -> str:
        """The environment that this client reads."""
        return self._target.environment

    @property
    def status(self) -> Status:
        """Where the client stands. (C3.1)"""
        if self._is_closed:
            return "closed"
        if self._follower:
            return self._follower.status
        if self._past:
            return self._past[0].status
        return "connecting" if self._seed is None else "stale"

    @property
    def revision(self) -> int | None:
        """The revision of the flags, if the server numbers them."""
        return self._follower.gate.known if self._follower else None

    def ready(self, timeout: float | None = None) -> Ready:
        """Waits for the first load. Never raises, and is over in so many seconds at most. (C3.2)"""
        follower = self._follower or self._wake()
        if not self._is_settled(follower) and not follower.is_own_thread():
            follower.settled.wait(self._limit(timeout))
        return self._readiness(follower)

    async def ready_async(self, timeout: float | None = None) -> Ready:
        """Like :meth:`ready`, without holding up the event loop."""
        follower = self._follower or self._wake()
        if not self._is_settled(follower):
            loop, event = asyncio.get_running_loop(), asyncio.Event()
            follower.when_settled(partial(_call_in, loop, event.set))
            try:
                await asyncio.wait_for(event.wait(), self._limit(timeout))
            except asyncio.TimeoutError:
                pass  # the result says so
        return self._readiness(follower)

    def on_change(self, listener: Callable[[Change], object]) -> Callable[[], None]:
        """Calls a listener after each change of flags. Returns what removes it."""
        return self._listen(self._change_listeners, listener)

    def on_status(self, listener: Callable[[Status], object]) -> Callable[[], None]:
        """Calls a listener with each new status. Returns what removes it."""
        return self._listen(self._status_listeners, listener)

    def on_read(self, listener: Callable[[Evaluation], object]) -> Callable[[], None]:
        """Calls a listener after each read, on the reader's thread. Its own reads are not heard. (C1.10)"""
        return self._listen(self._read_listeners, listener)

    # The end

    def close(self) -> None:
        """Ends every connection, timer and thread. Reads go on with the flags at hand. (C8)"""
        self._is_closed = True
        if self._follower:
            self._follower.close()
            self._follower.wait_closed(CLOSE_SECONDS)

    async def aclose(self) -> None:
        """Like :meth:`close`, without holding up the event loop."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Client:
        self.ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Client:
        await self.ready_async()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # Inside

    def _wake(self) -> Follower:
        """Begins to follow, once in each process, however many threads ask."""
        seed = self._past[0].flags if self._past else self._seed
        made = Follower(self._target, partial(_hear, weakref.ref(self)), seed)
        if self._past:
            made.continue_from(*self._past)
        if self._state_path is not None:
            made.keeper = StateKeeper(self._state_path)

        follower = self._followers.setdefault(None, made)
        if follower is made and not self._is_closed:
            try:
                made.start()
            except RuntimeError as error:  # no thread can be started: the next read tries again
                self._followers = {}
                self._report(FlagsError("network_error", str(error)))
                return made
            # A client that is dropped ends, because its threads do not hold it.
            weakref.finalize(self, made.close).atexit = False
        self._follower = follower
        if self._is_closed:  # meanwhile
            follower.close()
        return follower

    def _fork(self) -> None:
        """In a forked child, whose threads have stayed in the parent: the next read begins again."""
        if self._follower and not self._is_closed:
            self._follower.abandon()
            self._past = (self._follower, self._target.clock.now())
            self._follower, self._followers = None, {}

    def _later(self, duration: float, job: Callable[[], None]) -> None:
        """Runs a job on the client's thread."""
        (self._follower or self._wake()).later(duration, job)

    def _find(self, follower: Follower, key: str) -> FlagState | None:
        try:
            return follower.flags.get(key)
        except TypeError:  # no key: a list, for example
            return None

    def _decide(self, follower: Follower, key: str, state: FlagState, targeting_key: TargetingKey) -> tuple[bool, str]:
        is_on, reason = evaluate(key, state, self._reader_of(targeting_key))
        if follower.usage:
            follower.usage.count(key, is_on)
        if reason != "untargeted":
            return is_on, reason
        self._warn(("untargeted", key), f"{key} has a partial rollout: pass a targeting_key")
        return is_on, "split"

    def _read(self, key: str, default: object, targeting_key: TargetingKey) -> tuple[object, bool, str, str | None]:
        """The value of a read, whether the flag is on, the reason, and the error code."""
        follower = self._follower or self._wake()
        state = self._find(follower, key)
        if state is None:
            return default, False, "error", self._unknown(follower)
        is_on, reason = self._decide(follower, key, state, targeting_key)
        if not is_on:
            return default, False, reason, None
        if state.value is NOT_GIVEN:
            return default, True, "default", None

        value = fit(state.value, kind_of(default))
        if value is not NOT_GIVEN:
            return value, True, reason, None
        if key not in self._mismatched:
            self._mismatched.add(key)
            self._report(FlagsError("type_mismatch", f"{key} is of another type than its default", flag_key=key))
        return default, True, "error", "type_mismatch"

    def _reader_of(self, targeting_key: object) -> str | NotGiven | None:
        return self._reader if targeting_key is NOT_GIVEN else target_of(targeting_key)

    def _unknown(self, follower: Follower) -> str:
        return "flag_not_found" if follower.has_map or follower.is_seeded else "not_ready"

    def _tell(
        self,
        key: str,
        value: object,
        enabled: bool,
        reason: str,
        error_code: str | None,
        targeting_key: object,
    ) -> Evaluation:
        """Makes the result of a read, and lets the listeners hear of it."""
        reader = self._reader_of(targeting_key)
        stale = self.status != "ready"
        result = Evaluation(key, value, enabled, reason, error_code, stale, None if reader is NOT_GIVEN else reader)
        if self._read_listeners and not getattr(self._telling, "is_telling", False):
            self._telling.is_telling = True
            try:
                self._call_all(self._read_listeners, result)
            finally:
                self._telling.is_telling = False
        return result

    def _limit(self, timeout: float | None) -> float:
        return self._target.clock.real(self._ready_timeout) if timeout is None else seconds(timeout, 5.0)

    def _is_settled(self, follower: Follower) -> bool:
        return follower.has_map or follower.is_seeded or self._is_closed

    def _readiness(self, follower: Follower) -> Ready:
        if self._is_closed:
            return Ready("failed", FlagsError("client_closed", "the client is closed"))
        if self._target.error is None and follower.has_map:
            return Ready("ready")
        if self._target.error is None and follower.is_seeded:
            return Ready("bootstrapped")
        is_failed = follower.status == "failed" or self._target.error is not None
        return Ready("failed" if is_failed else "timeout", follower.error or FlagsError("timeout", "no answer in time"))

    def _listen(
        self, listeners: list[Callable[[_Heard], object]], listener: Callable[[_Heard], object]
    ) -> Callable[[], None]:
        if self._follower is None:
            self._wake()
        entry = partial(listener)  # the same function may be added twice
        listeners.append(entry)

        def remove() -> None:
            if entry in listeners:
                listeners.remove(entry)

        return remove

    def _call_all(self, listeners: list[Callable[[_Heard], object]], heard: _Heard) -> None:
        for listener in list(listeners):
            try:
                listener(heard)
            except Exception as error:  # it disturbs neither the client nor the others (C3.7)
                self._report(FlagsError("listener_error", f"a listener raised {type(error).__name__}"))

    def _hear(self, event: Event) -> None:
        if isinstance(event, FlagsError):
            self._report(event)
        elif isinstance(event, Change):
            self._call_all(self._change_listeners, event)
        else:
            self._call_all(self._status_listeners, event)

    def _report(self, error: FlagsError) -> None:
        if self._on_error is None:
            # The codes of a server have no end, but its statuses have.
            self._warn(error.status or error.code, str(error))
            return
        try:
            self._on_error(error)
        except Exception:
            self._warn("on_error", "on_error raised")

    def _warn(self, topic: object, message: str) -> None:
        now = time.monotonic()
        if now >= self._quiet_until.get(topic, 0):
            self._quiet_until[topic] = now + QUIET
            log.warning("%s", message)


def _read_bootstrap(bootstrap: Mapping[str, Mapping[str, object]] | None) -> FlagMap | None:
    """A copy of what is usable in a bootstrap."""
    try:
        return None if bootstrap is None else parse_flags(bootstrap, detach=True)[0]
    except FlagsError:
        return None


def _hear(client: weakref.ref[Client], event: Event) -> None:
    if listener := client():
        listener._hear(event)


def _call_in(loop: asyncio.AbstractEventLoop, job: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(job)
    except RuntimeError:
        pass  # the event loop has ended, and with it who waited


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _after_fork() -> None:
    for client in list(_clients):
        client._fork()


def _at_exit() -> None:
    for client in list(_clients):
        client.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
# uWSGI forks without Python's hooks, unless it is asked for them, and has one of its own.
if _uwsgi := sys.modules.get("uwsgi"):
    _next_hook: Callable[[], object] | None = getattr(_uwsgi, "post_fork_hook", None)

    def _after_uwsgi_fork() -> None:
        _after_fork()
        if _next_hook:
            _next_hook()

    setattr(_uwsgi, "post_fork_hook", _after_uwsgi_fork)  # noqa: B010 the module has no types
atexit.register(_at_exit)
