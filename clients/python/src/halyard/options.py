"""What a client needs to know, checked once."""

from __future__ import annotations

import ipaddress
import math
import os
import re
import ssl
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from ._loop import Clock
from .errors import FlagsError

DEFAULT_URL = "http://127.0.0.1:7070"


@dataclass(frozen=True)
class Target:
    """An environment of a service, and how to talk to it."""

    #: Without a slash at the end.
    base_url: str
    environment: str
    api_key: str = field(repr=False)
    clock: Clock
    request_timeout: float
    stale_after: float
    poll_interval: float
    reports_usage: bool
    ssl_context: ssl.SSLContext | None
    #: Why these options cannot work; no request is made then. (C5.5)
    error: FlagsError | None

    @property
    def query(self) -> str:
        return f"env={quote(self.environment, safe='')}"

    def redact(self, text: str) -> str:
        """Takes the project key out of a text. (C5.1)"""
        return text.replace(self.api_key, "[redacted]") if self.api_key else text


def read_target(
    *,
    api_key: object,
    environment: object,
    base_url: object,
    allow_insecure_http: bool,
    request_timeout: object,
    stale_after: object,
    poll_interval: object,
    report_usage: bool,
    ssl_context: ssl.SSLContext | None,
    time_scale: float,
) -> Target:
    """Checks options. Never raises: what cannot work is the target's error, which quotes no value. (C5.5)"""
    key = api_key.strip() if isinstance(api_key, str) else ""  # also without the line break that files add
    name = environment if isinstance(environment, str) else ""
    url = base_url if base_url is not None else os.environ.get("HALYARD_URL") or DEFAULT_URL
    url = url.rstrip("/") if isinstance(url, str) else ""

    problem = None
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        problem = "api_key (proj_live_...)"
    elif not re.fullmatch(r"[^\ud800-\udfff]+", name):
        problem = "environment"
    else:
        problem = _problem_with(url, allow_insecure_http)
    return Target(
        base_url=url,
        environment=name,
        api_key=key,
        clock=Clock(time_scale),
        request_timeout=seconds(request_timeout, 5.0, 0.001),
        stale_after=seconds(stale_after, 30.0),
        poll_interval=seconds(poll_interval, 30.0, 5.0),
        reports_usage=report_usage,
        ssl_context=ssl_context,
        error=FlagsError("invalid_options", f"a client needs a valid {problem}") if problem else None,
    )


def seconds(given: object, default: float, least: float = 0.0) -> float:
    """A duration of at least so much; the default for what is none."""
    if isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given) and given >= 0:
        return max(float(given), least)
    return default


def _problem_with(url: str, allow_insecure_http: bool) -> str | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "base_url"
    is_address = bool(re.fullmatch(r"[\x21-\x7e]+", url)) and parts.scheme in ("http", "https") and port != 0
    if not is_address or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        return "base_url"
    if parts.scheme == "http" and not allow_insecure_http and not _is_loopback(parts.hostname):
        return "base_url: https:, or allow_insecure_http"
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
