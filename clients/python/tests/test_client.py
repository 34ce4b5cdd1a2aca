"""What needs a look inside, by the clauses of the contract without a scenario, and what belongs to Python alone."""

from __future__ import annotations

import http.server
import json
import logging
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from openfeature import api
from openfeature.flag_evaluation import FlagEvaluationDetails, FlagType
from openfeature.hook import Hook, HookContext

from halyard import Client, Evaluation, FlagsError, HalyardProvider

FLAGS: dict[str, dict[str, Any]] = {
    "on": {"enabled": True},
    "off": {"enabled": False},
    "list": {"enabled": True, "value": [1, {"a": [2]}]},
    "number": {"enabled": True, "value": 7.0},
    "half": {"enabled": True, "rolloutPct": 50},
}
NOWHERE: dict[str, Any] = {"api_key": "proj_live_none", "environment": "production", "base_url": "http://127.0.0.1:9"}


@pytest.fixture
def flags() -> Iterator[Client]:
    client = Client(**NOWHERE, bootstrap=FLAGS, on_error=lambda _: None)
    yield client
    client.close()


def test_c1_10_listeners_hear_of_each_read(flags: Client) -> None:
    heard: list[Evaluation] = []

    def listen(read: Evaluation) -> None:
        heard.append(read)
        flags.is_enabled("off")  # is not heard, or this would not end
        raise RuntimeError("a listener that raises disturbs no read")

    remove = flags.on_read(listen)
    assert flags.is_enabled("on") is True
    assert flags.get_value("number", 1) == 7
    assert flags.get_value("missing", 1, targeting_key="ana") == 1
    assert HalyardProvider(flags).resolve_boolean_details("off", True).value is False
    assert [(read.key, read.value, read.reason, read.error_code, read.targeting_key) for read in heard] == [
        ("on", True, "static", None, None),
        ("number", 7, "static", None, None),
        ("missing", 1, "error", "flag_not_found", "ana"),
        ("off", False, "disabled", None, None),
    ]
    remove()
    flags.is_enabled("on")
    assert len(heard) == 4


def test_c1_10_hooks_of_openfeature_hear_of_each_read(flags: Client) -> None:
    heard = []

    class Listener(Hook):
        def after(self, hook_context: HookContext, details: FlagEvaluationDetails[Any], hints: Any) -> None:
            heard.append((hook_context.flag_type, details.flag_key, details.value))

    api.set_provider_and_wait(HalyardProvider(flags), "hooks")
    features = api.get_client("hooks")
    features.add_hooks([Listener()])
    assert features.get_integer_value("number", 1) == 7
    assert heard == [(FlagType.INTEGER, "number", 7)]


def test_c1_11_what_a_read_gives_out_cannot_change_the_map(flags: Client) -> None:
    given: Any = flags.get_value("list", [])
    given[1]["a"].append("mine")
    state: Any = flags.all()["list"]
    state.value.clear()
    details: Any = HalyardProvider(flags).resolve_object_details("list", [])
    details.value.append("mine")
    assert flags.get_value("list", []) == [1, {"a": [2]}]
    assert FLAGS["list"]["value"] == [1, {"a": [2]}]


def test_values_are_of_the_type_of_the_default(flags: Client) -> None:
    assert repr(flags.get_value("number", 1)) == "7"
    assert repr(flags.get_value("number", 1.5)) == "7.0"
    assert flags.get_value("number", True) is True
    assert flags.evaluate("number", "text").error_code == "type_mismatch"
    assert flags.get_value("on", "text") == "text"
    assert flags.evaluate("on", "text").reason == "default"
    wrong: Any = ["no", "key"]
    assert flags.is_enabled(wrong, fallback=True) is True


def test_without_a_targeting_key_a_partial_rollout_is_on_and_none_is_in_no_one(
    flags: Client, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        assert flags.is_enabled("half") is True
    assert [record.message for record in caplog.records] == ["half has a partial rollout: pass a targeting_key"]
    assert flags.is_enabled("half", targeting_key=None) is False
    everyone = [flags.is_enabled("half", targeting_key=number) for number in range(100)]
    assert 20 < sum(everyone) < 80
    assert everyone == [flags.is_enabled("half", targeting_key=str(number)) for number in range(100)]


def test_c5_1_the_key_is_in_no_log_no_error_and_no_printed_object(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    errors: list[FlagsError] = []
    client = Client(**{**NOWHERE, "api_key": "proj_live_canary"}, on_error=errors.append)
    assert client.ready().status == "failed"
    client.close()
    assert errors
    shown = [repr(client), repr(vars(client)), repr(client._target), caplog.text]
    shown += [f"{error!r} {error} {vars(error)}" for error in errors]
    assert "canary" not in "".join(shown)


class Server(http.server.ThreadingHTTPServer):
    """A node that asks for reports, or a proxy; it keeps what it is asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, bytes]] = []
        self.reports: list[Any] = []
        self.times: list[tuple[str, float]] = []
        self.is_over = threading.Event()
        self.report_statuses: list[int] = []
        #: What everything is refused with, if it is.
        self.refusal: tuple[int, str] | None = None
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.times.append((self.path.partition("?")[0], time.monotonic()))
                server.seen.append((self.command, self.path, bytes(str(self.headers), "latin-1") + body))
                self.close_connection = True
                if server.refusal:
                    self.send_response(server.refusal[0])
                    self.send_header("Retry-After", server.refusal[1])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif self.path == "/usage/v1":
                    status = server.report_statuses.pop(0) if server.report_statuses else 204
                    server.reports.append((status, json.loads(body)["flags"]))
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif self.path.startswith("/v1/stream"):
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.send_header("X-Flags-Revision", "1")
                    self.send_header("X-Flags-Usage", "60")
                    self.end_headers()
                    self.wfile.write(f"data: {json.dumps(FLAGS)}\n\n".encode())
                    server.is_over.wait(60)
                else:
                    self.send_error(502)

            do_GET = do_POST = do_CONNECT = answer

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients go as they like
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.is_over.set()
    server.shutdown()
    server.server_close()


def run(script: str, **environment: str) -> str:
    """Runs a program to its end, and gives what it printed."""
    path = str(ROOT / "clients/python/src")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(script)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_c7_4_a_program_ends_by_itself_and_sends_its_last_report(server: Server) -> None:
    run(f"""
        import halyard
        flags = halyard.Client(api_key="proj_live_x", environment="production", base_url={server.url!r})
        assert flags.ready().status == "ready"
        for _ in range(1000): flags.get_value("number", 0)
    """)
    assert server.reports == [(204, {"number": {"on": 1000, "off": 0}})]
    assert b'"env": "production"' in server.seen[-1][2]


def test_c7_3_counts_that_are_not_accepted_go_into_the_next_report_and_refused_ones_do_not(server: Server) -> None:
    server.report_statuses = [500, 204, 400, 404]
    client = Client(api_key="x", environment="e", base_url=server.url, request_timeout=5000, _time_scale=0.002)
    assert client.ready(20).status == "ready"
    for wanted in range(1, 5):
        client.is_enabled("on")
        deadline = time.monotonic() + 20
        while len(server.reports) < wanted and time.monotonic() < deadline:
            time.sleep(0.005)
    assert [(status, flags["on"]["on"]) for status, flags in server.reports] == [(500, 1), (204, 2), (400, 1), (404, 1)]
    client.close()


def test_a_fork_of_uwsgi_which_python_does_not_hear_of(server: Server) -> None:
    """The fork itself is uWSGI's, with the locks of the interpreter held; here only its hook is called."""
    printed = run(f"""
        import sys, types
        uwsgi = sys.modules["uwsgi"] = types.ModuleType("uwsgi")
        uwsgi.post_fork_hook = lambda: print("the hook of another library")
        import halyard
        flags = halyard.Client(api_key="proj_live_x", environment="production", base_url={server.url!r})
        assert flags.ready().status == "ready"
        before = flags._follower
        uwsgi.post_fork_hook()
        assert flags.is_enabled("on")
        assert flags._follower is not before
        assert flags.ready().status == "ready"
    """)
    assert printed == "the hook of another library\n"


def test_c5_4_a_proxy_gets_no_plain_request_and_a_tunnel_for_the_others(server: Server) -> None:
    printed = run(
        """
        import halyard
        for url in ("http://127.0.0.1:9", "https://flags.example.com"):
            flags = halyard.Client(api_key="proj_live_canary", environment="production", base_url=url, on_error=print)
            print(flags.ready(2).status)
            flags.close()
        """,
        HTTP_PROXY=server.url,
        HTTPS_PROXY=server.url.replace("http://", "http://user:secret@"),
        NO_PROXY="",
    )
    assert {(method, path) for method, path, _ in server.seen} == {("CONNECT", "flags.example.com:443")}
    assert b"Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=" in server.seen[0][2]
    assert not any(b"canary" in head for _, _, head in server.seen)
    assert "the proxy answered 502" in printed
    assert "secret" not in printed


def test_many_threads_begin_one_follower(server: Server) -> None:
    client = Client(api_key="proj_live_x", environment="production", base_url=server.url)
    barrier = threading.Barrier(16)

    def read() -> None:
        barrier.wait()
        client.is_enabled("on")

    threads = [threading.Thread(target=read) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.ready().status == "ready"
    client.close()
    assert len(server.seen) - len(server.reports) == 1


def test_c6_1_only_the_owner_may_read_the_file(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "flags"
    with Client(api_key="proj_live_x", environment="production", base_url=server.url, state_path=path) as client:
        assert client.status == "ready"
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"proj_live_x" not in path.read_bytes()
    with Client(**NOWHERE, state_path=path, on_error=lambda _: None) as client:
        assert client.ready().status == "bootstrapped"
        assert client.get_value("number", 0) == 7


def test_c6_3_the_age_counts_from_when_the_stream_was_lost(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "flags"
    with Client(
        api_key="x", environment="production", base_url=server.url, state_path=path, on_error=lambda _: None
    ) as client:
        server.is_over.set()
        deadline = time.monotonic() + 20
        while client._follower and client._follower.is_live and time.monotonic() < deadline:
            time.sleep(0.005)
        lost_at = time.time()
        time.sleep(0.05)
    assert float(path.read_text().split(" ")[1]) <= lost_at + 0.01


def test_c3_7_listeners_that_raise_or_close_the_client_disturb_no_other(server: Server) -> None:
    errors: list[str] = []
    heard: list[str] = []

    def on_error(error: FlagsError) -> None:
        errors.append(error.code)
        raise RuntimeError

    client = Client(api_key="proj_live_x", environment="production", base_url=server.url, on_error=on_error)

    def close(status: str) -> None:
        client.close()
        raise RuntimeError(status)

    client.on_status(close)
    client.on_status(heard.append)
    client.ready()
    deadline = time.monotonic() + 10
    while heard != ["ready", "closed"] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert heard == ["ready", "closed"]
    assert client.is_enabled("on") is True
    assert errors == ["listener_error"] * 2


@pytest.mark.parametrize(("status", "retry_after", "clause"), [(401, "", "C2.15"), (503, "200", "C2.14")])
def test_rest_is_not_asked_before_its_time(server: Server, status: int, retry_after: str, clause: str) -> None:
    """After a refusal 4 minutes (C2.15), and what REST itself has named (C2.14); otherwise it would be 30 seconds."""
    server.refusal = (status, retry_after)
    client = Client(
        api_key="x",
        environment="e",
        base_url=server.url,
        on_error=lambda _: None,
        request_timeout=2000,
        _time_scale=0.005,
    )
    client.is_enabled("on")
    time.sleep(0.6)  # 120 of the client's seconds; a busy machine asks less
    client.close()
    assert len([path for path, _ in server.times if path == "/v1/flags"]) <= 1, clause
