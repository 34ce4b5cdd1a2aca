"""What can go wrong."""

from __future__ import annotations


class FlagsError(Exception):
    """A failure, as listeners and the log get it. It never contains the project key. (C5.1)

    ``code`` is that of the server (``invalid_api_key``, ``environment_not_found`` …) or one of the client's:
    ``network_error``, ``timeout``, ``invalid_response``, ``stream_error``, ``revision_reset``, ``invalid_options``,
    ``type_mismatch``, ``listener_error``, ``state_file`` and ``client_closed``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        docs: str | None = None,
        flag_key: str | None = None,
        retry_in: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: HTTP status, if the server answered.
        self.status = status
        #: Address of the page about the code, if the server sent one.
        self.docs = docs
        #: The flag that the failure is about.
        self.flag_key = flag_key
        #: Seconds that the server asked to wait (``Retry-After``).
        self.retry_in = retry_in

    @property
    def is_refusal(self) -> bool:
        """Whether only a person can undo the cause: a key or an environment that the service does not know."""
        return self.status == 401 or self.code == "environment_not_found"

    def __str__(self) -> str:
        return f"{self.code}: {self.args[0]}{f' ({self.docs})' if self.docs else ''}"
