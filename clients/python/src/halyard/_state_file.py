"""The flags of the last run, in a file. (C6)"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from ._maps import parse_flags, parse_json
from .errors import FlagsError
from .evaluation import FlagState

if TYPE_CHECKING:
    from ._follower import Follower

#: Changes that come faster are written together; flags that stay as they are, again after a while, for their age.
MIN_INTERVAL = 1.0
RENEW = 300.0

#: The version of the text, when it was current (seconds), and the checksum of the JSON that follows.
_TEXT = re.compile(rb"halyard-python/1 ([0-9]{1,12}\.?[0-9]*) ([0-9]{1,10}) (.*)", re.DOTALL)


def read_state(path: str, environment: str, max_age: float | None) -> dict[str, FlagState] | None:
    """The flags that were written for an environment, unless they are too old. What is damaged is nothing. (C6.4)"""
    try:
        with open(path, "rb") as file:
            match = _TEXT.fullmatch(file.read())
        if match is None or zlib.crc32(match[3]) != int(match[2]):
            return None
        if max_age is not None and time.time() - float(match[1]) > max_age:
            return None
        body = parse_json(match[3])
        if not isinstance(body, dict) or body.get("environment") != environment:
            return None
        return parse_flags(body.get("flags"))[0]
    except (OSError, ValueError, FlagsError):
        return None


class StateKeeper:
    """Writes flags as soon as they are current, after changes, and when they stop being current. (C6.1)"""

    def __init__(self, path: str) -> None:
        self._path = path
        self._is_waiting = False
        self._is_writing = False
        self._is_due = False
        self._written_at = 0.0
        self._has_timer = False

    def note_change(self, follower: Follower) -> None:
        """The flags have changed; they are written in a second."""
        if not self._is_waiting:
            self._is_waiting = True
            follower.later(MIN_INTERVAL, lambda: self.write(follower) if self._is_waiting else None)

    def write(self, follower: Follower) -> None:
        """Writes now. A file system that hangs holds up no flag, so it has a thread of its own."""
        self._is_waiting = False
        if self._is_writing:
            self._is_due = True
            return
        self._is_writing = True
        write = self._writing(follower)
        follower.work("halyard-state", lambda _: write(), lambda _, error: self._on_written(follower, error))

    def leave(self, follower: Follower) -> None:
        """Writes for the last time, if anything but the age would be new."""
        if follower.has_map and (self._is_waiting or follower.status == "ready"):
            try:
                self._writing(follower)()
            except FlagsError as error:
                follower.report(error)

    def _on_written(self, follower: Follower, error: FlagsError | None) -> None:
        self._is_writing = False
        if error:
            follower.report(error)
        if self._is_due:
            self._is_due = False
            self.write(follower)
        elif not self._has_timer:
            self._has_timer = True
            follower.later(RENEW, lambda: self._renew(follower))

    def _renew(self, follower: Follower) -> None:
        self._has_timer = False
        if follower.status == "ready":
            self.write(follower)
        else:
            self._on_written(follower, None)

    def _writing(self, follower: Follower) -> Callable[[], None]:
        """What writes the flags as they are now."""
        flags, environment = follower.flags, follower.target.environment
        current_at = time.time() if follower.is_live else follower.current_at

        def write() -> None:
            states = {key: state.to_json() for key, state in flags.items()}
            body = json.dumps({"environment": environment, "flags": states}).encode()
            unfinished = f"{self._path}.{secrets.token_hex(6)}"
            try:
                # Only its owner may read it: it holds every flag with its value.
                flags_of_open = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
                with open(os.open(unfinished, flags_of_open, 0o600), "wb") as file:
                    file.write(b"halyard-python/1 %.3f %d %b" % (current_at, zlib.crc32(body), body))
                os.replace(unfinished, self._path)
            except (OSError, ValueError) as error:
                try:
                    os.unlink(unfinished)
                except OSError:
                    pass
                raise FlagsError("state_file", f"flags cannot be kept: {error}") from None

        return write
