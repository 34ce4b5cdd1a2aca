"""The provider for OpenFeature."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypedDict, TypeVar, cast

from openfeature.evaluation_context import EvaluationContext
from openfeature.event import ProviderEventDetails
from openfeature.exception import ErrorCode, GeneralError, ProviderFatalError
from openfeature.flag_evaluation import FlagMetadata, FlagResolutionDetails, FlagValueType, Reason
from openfeature.provider import AbstractProvider, Metadata

from ._follower import Change, Status
from .client import Client
from .errors import FlagsError
from .evaluation import NOT_GIVEN, Kind, TargetingKey, evaluate, fit

if TYPE_CHECKING:
    from typing_extensions import Unpack

_T = TypeVar("_T")
_Structure = Sequence[FlagValueType] | Mapping[str, FlagValueType]

#: Causes that only a person can undo. (C3.6)
_FATAL = ("invalid_api_key", "environment_not_found", "invalid_options")

#: How long the SDK may take to conclude from the end of the initialization, in seconds.
_CONCLUSION = 0.1


class ClientOptions(TypedDict, total=False):
    """The options of :class:`halyard.Client`."""

    api_key: str
    environment: str
    base_url: str | None
    targeting_key: TargetingKey
    bootstrap: Mapping[str, Mapping[str, object]] | None
    state_path: str | os.PathLike[str] | None
    state_max_age: float | None
    on_error: Callable[[FlagsError], object] | None
    request_timeout: float
    ready_timeout: float
    stale_after: float
    poll_interval: float
    allow_insecure_http: bool
    report_usage: bool
    ssl_context: ssl.SSLContext | None
    _time_scale: float


class HalyardProvider(AbstractProvider):
    """Answers OpenFeature from the memory of a client.

    ``HalyardProvider(api_key=…, environment=…)`` makes a client of its own, from the options of
    :class:`halyard.Client`; ``HalyardProvider(client)`` uses yours, which stays yours to close.
    """

    def __init__(self, client: Client | None = None, **options: Unpack[ClientOptions]) -> None:
        super().__init__()
        self._options: ClientOptions | None = None if client else {**_REQUIRED, **options}
        self.client = client or Client(**cast(ClientOptions, self._options))
        self._removers: list[Callable[[], None]] = []
        self._was_set = False

    def get_metadata(self) -> Metadata:
        return Metadata(name="halyard")

    def initialize(self, evaluation_context: EvaluationContext) -> None:
        """Waits for the first load. Raises if it fails; the provider becomes ready if the cause passes."""
        self._forget()
        # A provider that was shut down may be set again. One that is shut down before it was set stays so.
        if self._options is not None and self._was_set and self.client.status == "closed":
            self.client = Client(**self._options)
        self._was_set = True
        client = self.client
        result = client.ready()

        # Only now: the map that ends the first load is no change. (C3.5)
        self._removers = [client.on_change(self._on_change), client.on_status(self._on_status)]
        concluded = "ready" if result.status == "bootstrapped" else result.status
        # What the SDK concludes may be out of date by then, and no other status may follow.
        client._later(_CONCLUSION, partial(self._correct, client, concluded))
        if concluded == "ready":
            return
        error = result.error or FlagsError("timeout", "no answer in time")
        raise (ProviderFatalError if error.code in _FATAL else GeneralError)(str(error))

    def shutdown(self) -> None:
        """Ends the provider's work, and its client if the provider made it."""
        self._forget()
        if self._options is not None:
            self.client.close()

    def resolve_boolean_details(
        self, flag_key: str, default_value: bool, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[bool]:
        return self._resolve("boolean", flag_key, default_value, evaluation_context)

    def resolve_string_details(
        self, flag_key: str, default_value: str, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[str]:
        return self._resolve("string", flag_key, default_value, evaluation_context)

    def resolve_integer_details(
        self, flag_key: str, default_value: int, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[int]:
        return self._resolve("integer", flag_key, default_value, evaluation_context)

    def resolve_float_details(
        self, flag_key: str, default_value: float, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[float]:
        return self._resolve("float", flag_key, default_value, evaluation_context)

    def resolve_object_details(
        self, flag_key: str, default_value: _Structure, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[_Structure]:
        return self._resolve("object", flag_key, default_value, evaluation_context)

    def _resolve(
        self, kind: Kind, key: str, default: _T, context: EvaluationContext | None
    ) -> FlagResolutionDetails[_T]:
        client = self.client
        follower = client._follower or client._wake()
        state = client._find(follower, key)
        given = context.targeting_key if context else None
        targeting_key = NOT_GIVEN if given is None else given
        reader = client._reader_of(targeting_key)

        def tell(value: object, is_on: bool, reason: str, error_code: str | None) -> None:
            if client._read_listeners:
                client._tell(key, value, is_on, reason, error_code, targeting_key)

        def fail(code: ErrorCode, message: str, metadata: FlagMetadata | None = None) -> FlagResolutionDetails[_T]:
            tell(default, False, "error", code.value.lower())
            return FlagResolutionDetails(default, code, message, Reason.ERROR, flag_metadata=metadata or {})

        if state is None and not (follower.has_map or follower.is_seeded):
            return fail(ErrorCode.PROVIDER_NOT_READY, "no flags have been loaded")
        if state is None:
            return fail(ErrorCode.FLAG_NOT_FOUND, f"the flag {key} does not exist in {client.environment}")
        metadata: dict[str, bool | int | float | str] = {"environment": client.environment, "enabled": state.enabled}
        if state.rollout_pct is not None:
            metadata["rolloutPct"] = state.rollout_pct

        # OpenFeature knows only "missing" for what is no key.
        is_on, reason = evaluate(key, state, NOT_GIVEN if reader is None else reader)
        if reason == "untargeted":
            message = f"{key} has a partial rollout: pass a targeting key in the context"
            return fail(ErrorCode.TARGETING_KEY_MISSING, message, metadata)
        if follower.usage:
            follower.usage.count(key, is_on)
        if not is_on:
            # `_T`: `False` is of the kind that was asked for.
            off = cast(_T, False) if kind == "boolean" else default
            tell(off, False, reason, None)
            return FlagResolutionDetails(off, reason=reason.upper(), variant="off", flag_metadata=metadata)

        value = fit(True if state.value is NOT_GIVEN else state.value, kind)
        if value is NOT_GIVEN:
            return fail(ErrorCode.TYPE_MISMATCH, f"{key} holds no {kind}", metadata)
        tell(value, True, reason, None)
        if client.status != "ready":
            reason_now = Reason.STALE if follower.has_map else Reason.CACHED
        else:
            reason_now = Reason(reason.upper())
        # `_T`: it is of the kind that was asked for.
        return FlagResolutionDetails(cast(_T, value), reason=reason_now, variant="on", flag_metadata=metadata)

    def _correct(self, client: Client, concluded: str) -> None:
        if client.status != concluded:
            self._on_status(client.status)

    def _on_change(self, change: Change) -> None:
        self.emit_provider_configuration_changed(ProviderEventDetails(flags_changed=change.keys))

    def _on_status(self, status: Status) -> None:
        if status == "ready":
            self.emit_provider_ready(ProviderEventDetails())
        elif status == "failed":
            details = ProviderEventDetails(message="no flags have been loaded", error_code=ErrorCode.GENERAL)
            self.emit_provider_error(details)
        elif status == "stale":
            self.emit_provider_stale(ProviderEventDetails())
        elif status == "closed":  # the application closed its client; reads go on with the flags that it had
            self.emit_provider_stale(ProviderEventDetails(message="the client is closed"))

    def _forget(self) -> None:
        for remove in self._removers:
            remove()
        self._removers = []


_REQUIRED: ClientOptions = {"api_key": "", "environment": ""}
