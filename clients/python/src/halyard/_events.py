"""Server-sent events, by the rules of the HTML standard. (C2.3)"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

_LINE_END = re.compile(r"\r\n|[\r\n]")


class EventParser:
    """Reads the bytes of a stream in any pieces, in time in proportion to them."""

    def __init__(
        self,
        on_data: Callable[[str], None],
        on_comment: Callable[[str], None] = lambda _: None,
        on_retry: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._on_data = on_data
        self._on_comment = on_comment
        self._on_retry = on_retry
        # `utf-8-sig` drops the one byte order mark that may be there. (C2.4)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._line: list[str] = []
        self._data: list[str] = []
        self._type = ""
        self._ends_with_cr = False
        #: How many characters of an unfinished event are kept: the place to refuse one without an end.
        self.pending = 0

    def feed(self, piece: bytes) -> None:
        """Takes the next bytes, and calls back for what they complete."""
        text = self._decoder.decode(piece)
        if not text:
            return
        if self._ends_with_cr and text[0] == "\n":
            text = text[1:]
            self._ends_with_cr = False
        if text:
            self._ends_with_cr = text[-1] == "\r"

        # Only new text is searched, and what was collected is joined once.
        *lines, rest = _LINE_END.split(text)
        for line in lines:
            self._take("".join([*self._line, line]) if self._line else line)
            self._line.clear()
        if rest:
            self._line.append(rest)
        self.pending = self.pending + len(text) if self._line or self._data else 0

    def _take(self, line: str) -> None:
        if not line:
            data, kind = self._data, self._type
            self._data, self._type, self.pending = [], "", 0
            if data and kind in ("", "message"):
                self._on_data("\n".join(data))
            return

        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._type = value
        elif field == "retry" and value.isascii() and value.isdigit():
            self._on_retry(int(value[:18]))
        elif not field:
            self._on_comment(value)
