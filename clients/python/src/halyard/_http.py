"""One request over a connection of its own, with limits on everything that a server decides."""

from __future__ import annotations

import base64
import email.utils
import http.client
import io
import re
import socket
import ssl
import time
import urllib.request
import zlib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import cast
from urllib.parse import SplitResult, unquote, urlsplit

from ._maps import parse_json
from .errors import FlagsError
from .options import Target

#: Silence after which a body is given up, and what counts as a sign of life beside frames and comments. (C2.18)
SILENCE = 45.0
LIVELY_BYTES = 1024

#: Greatest size of a frame or an answer, in characters: a guard against what has no end. (C2.10)
MAX_LENGTH = 32 * 1024 * 1024

#: A longer `Retry-After` is cut to this: no server may switch a client off. (C2.14)
MAX_RETRY_AFTER = 3600.0

try:
    _USER_AGENT = f"halyard-flags/{version('halyard-flags')} python"
except PackageNotFoundError:  # the sources, without an installation
    _USER_AGENT = "halyard-flags python"

_CODES = {400: "invalid_argument", 401: "invalid_api_key", 429: "rate_limited"}


class Exchange:
    """A request and its answer. Any thread may end it."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._clock = target.clock
        self._sock: socket.socket | None = None
        self._wire: _Wire | None = None
        self._response: http.client.HTTPResponse | None = None
        self._ended: FlagsError | None = None
        self._fresh = 0

    def abort(self, reason: FlagsError) -> None:
        """Ends the connection; what waits for it gets the reason."""
        self._ended = self._ended or reason
        if self._sock is not None:
            _shut(self._sock)

    def abandon(self) -> None:
        """Closes this process's copy of a connection that belongs to the parent."""
        if self._sock is not None:
            self._sock.close()

    def get(self, path: str, accept: str, etag: str | None = None) -> http.client.HTTPResponse:
        """Sends a GET, and gives the answer if it is 200, or 304 for an ``etag``."""
        headers = {"Accept": accept, "Cache-Control": "no-cache"}
        # A stream is not compressed: what compresses collects.
        headers["Accept-Encoding"] = "gzip" if accept == "application/json" else "identity"
        if etag is not None:
            headers["If-None-Match"] = etag

        response = self.send("GET", f"{path}?{self._target.query}", headers)
        if response.status == 200 or (etag is not None and response.status == 304):
            return response
        raise self._refusal_of(response)

    def send(
        self, method: str, path: str, headers: dict[str, str], body: bytes = b"", timeout: float | None = None
    ) -> http.client.HTTPResponse:
        """Sends a request, and gives the answer once its headers have come. Follows no redirect. (C5.2)"""
        target = self._target
        url = urlsplit(target.base_url)
        deadline = self._clock.now() + (target.request_timeout if timeout is None else timeout)
        all_headers = {
            "Host": url.netloc,
            "Connection": "close",
            "User-Agent": _USER_AGENT,
            "X-Service-Key": target.api_key,
            **headers,
        }
        lines = [f"{method} {url.path}{path} HTTP/1.1", *(f"{name}: {text}" for name, text in all_headers.items())]

        try:
            sock = self._connect(url, deadline)
            self._limit(sock, deadline)
            sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            return self._begin(sock, method, deadline)
        except Exception as thrown:
            raise self._failure(thrown, "no answer in time") from None

    def body(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        """The body as it comes, decompressed. Raises if it breaks, falls silent or is too short."""
        inflate = zlib.decompressobj(31) if response.headers.get("Content-Encoding") == "gzip" else None
        self.alive()
        try:
            while piece := response.read1(65_536):
                self._fresh += len(piece)
                if self._fresh >= LIVELY_BYTES:
                    self.alive()
                while inflate and piece:
                    yield inflate.decompress(piece, 65_536)  # in pieces, however much a few bytes become
                    piece = inflate.unconsumed_tail
                if piece:
                    yield piece
            if response.length:
                raise ConnectionError("the answer was cut off")
        except FlagsError:
            raise
        except Exception as thrown:
            raise self._failure(thrown, "it fell silent") from None
        finally:
            self.close()
        if self._ended:
            raise self._ended

    def json(self, response: http.client.HTTPResponse) -> object:
        """The JSON of an answer."""
        pieces = []
        length = 0
        for piece in self.body(response):
            pieces.append(piece)
            length += len(piece)
            refuse_endless(length)
        return parse_json(b"".join(pieces).decode("utf-8-sig", "replace"))

    def alive(self) -> None:
        """Notes a sign of life."""
        self._fresh = 0
        if self._wire:
            self._wire.deadline = self._clock.now() + SILENCE

    def close(self) -> None:
        """Closes the connection. On the thread that reads it."""
        if self._response is not None:
            self._response.close()
        if self._sock is not None:
            _shut(self._sock)
            self._sock.close()

    def _connect(self, url: SplitResult, deadline: float) -> socket.socket:
        host, is_secure = cast(str, url.hostname), url.scheme == "https"
        port = url.port or (443 if is_secure else 80)
        # A proxy never sees plain requests, because they carry the key. (C5.4)
        proxy = urllib.request.getproxies().get("https") if is_secure else None
        if proxy and not urllib.request.proxy_bypass(host):
            sock = self._tunnel(proxy, host, port, deadline)
        else:
            sock = self._dial(host, port, deadline)
        if is_secure:
            context = self._target.ssl_context or ssl.create_default_context()
            self._limit(sock, deadline)
            sock = self._own(context.wrap_socket(sock, server_hostname=host))
        return sock

    def _dial(self, host: str, port: int, deadline: float) -> socket.socket:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for left, (family, kind, protocol, _, address) in zip(range(len(addresses), 0, -1), addresses, strict=True):
            sock = self._own(socket.socket(family, kind, protocol))
            try:
                # An address that does not answer leaves time for the others.
                self._limit(sock, self._clock.now() + (deadline - self._clock.now()) / left)
                sock.connect(address)
                self._own(sock)  # again: a socket that is still connecting cannot be shut
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return sock
            except OSError:
                sock.close()
                if left == 1:
                    raise
        raise ConnectionError("the host has no address")

    def _tunnel(self, proxy: str, host: str, port: int, deadline: float) -> socket.socket:
        url = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if url.scheme != "http" or not url.hostname:
            raise ConnectionError("only proxies that are reached over http: are supported")
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {name} HTTP/1.1", f"Host: {name}"]
        if url.username:
            user = f"{unquote(url.username)}:{unquote(url.password or '')}"
            lines.append(f"Proxy-Authorization: Basic {base64.b64encode(user.encode()).decode()}")

        sock = self._dial(url.hostname, url.port or 80, deadline)
        sock.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        response = self._begin(sock, "CONNECT", deadline)
        if response.status != 200:
            raise ConnectionError(f"the proxy answered {response.status}")
        return sock

    def _begin(self, sock: socket.socket, method: str, deadline: float) -> http.client.HTTPResponse:
        self._wire = _Wire(sock, self._target, deadline)
        # `socket`: a response uses nothing of it but `makefile`.
        response = self._response = http.client.HTTPResponse(cast(socket.socket, self._wire), method=method)
        response.begin()
        return response

    def _own(self, sock: socket.socket) -> socket.socket:
        self._sock = sock
        if self._ended:
            raise self._ended
        return sock

    def _limit(self, sock: socket.socket, deadline: float) -> None:
        left = deadline - self._clock.now()
        if left <= 0:
            raise TimeoutError
        sock.settimeout(self._clock.real(left))

    def _failure(self, thrown: Exception, late: str) -> FlagsError:
        """Whatever was thrown, as an error that holds no key."""
        self.close()
        if self._ended:
            return self._ended
        if isinstance(thrown, FlagsError):
            return thrown
        if isinstance(thrown, TimeoutError):
            return FlagsError("timeout", late)
        text = self._target.redact(f"{type(thrown).__name__}: {thrown}")
        return FlagsError("network_error", f"{text} ({self._target.base_url})")

    def _refusal_of(self, response: http.client.HTTPResponse) -> FlagsError:
        body: object = None
        try:
            body = self.json(response)
        except FlagsError:
            pass  # the body only explains; an unreadable one leaves the status to speak
        members = body if isinstance(body, dict) else {}
        code, message, docs = (members.get(name) for name in ("error", "message", "docs"))
        if not isinstance(code, str) or not re.fullmatch(r"[a-z_]{1,64}", code):
            code = _CODES.get(response.status, "invalid_response" if response.status < 500 else "internal_error")

        short = [self._target.redact(each)[:500] if isinstance(each, str) else "" for each in (message, docs)]
        return FlagsError(
            code,
            short[0] or f"the server answered {response.status}",
            status=response.status,
            docs=short[1] or None,
            retry_in=parse_retry_after(response.headers.get("Retry-After")),
        )


def refuse_endless(length: int) -> None:
    """Raises ``invalid_response`` if so many characters have come that there is no end in sight. (C2.10)"""
    if length > MAX_LENGTH:
        raise FlagsError("invalid_response", "it has no end")


def revision_of(response: http.client.HTTPResponse) -> int | None:
    """The revision that an answer says it was made from. (C2.5)"""
    text = response.headers.get("X-Flags-Revision", "")
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else None


def parse_retry_after(text: str | None) -> float | None:
    """``Retry-After`` in seconds, cut, from seconds or a date; ``None`` when absent or not understood. (C2.14)"""
    if text is None:
        return None
    if re.fullmatch(r"\s*[0-9]+\s*", text):
        return min(float(text), MAX_RETRY_AFTER)
    try:
        wait = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return min(wait, MAX_RETRY_AFTER) if wait >= 0 else None


class _Wire(io.RawIOBase):
    """Reads a socket until a deadline. A socket's own timeout begins again with each byte."""

    def __init__(self, sock: socket.socket, target: Target, deadline: float) -> None:
        self._sock = sock
        self._clock = target.clock
        self.deadline = deadline

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the base takes every buffer
        left = self.deadline - self._clock.now()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(self._clock.real(left))
        return self._sock.recv_into(buffer)


def _shut(sock: socket.socket) -> None:
    try:
        # Not the method of a TLS socket, which forgets its session under the thread that reads.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        pass  # it is not connected
