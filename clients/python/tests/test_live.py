"""A real node: changes seen at once, a node that is killed and comes back, forks, and how clients end."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import string
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from halyard import Client
from halyard._http import Exchange

ENVIRONMENT = "production"


class Node:
    """A node on SQLite, with a project and a key."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = folder
        letters = string.ascii_letters + string.digits
        self.token = "hat_" + "".join(secrets.choice(letters) for _ in range(43))
        self.start()

    def prepare(self) -> None:
        self.ask("POST", "/api/projects", {"name": "demo"})
        body = {"name": "python", "environments": [ENVIRONMENT]}
        self.key = self.ask("POST", "/api/projects/demo/keys", body)["key"]
        self.put("a", {"enabled": True, "value": 0})

    def start(self) -> None:
        bun = shutil.which("bun")
        assert bun
        command = [bun, str(ROOT / "packages/server/src/main.ts"), "serve", "--bare", "--port", str(self.port)]
        environment = {**os.environ, "HALYARD_ADMIN_TOKEN": self.token, "HALYARD_DRAIN_SECONDS": "1"}
        self.process = subprocess.Popen(
            [*command, "--data", str(self.folder)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self.is_ready)

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or b"null")

    def put(self, key: str, state: dict[str, Any]) -> None:
        self.ask("PUT", f"/api/projects/demo/environments/{ENVIRONMENT}/flags/{key}", state)

    def client(self, **options: Any) -> Client:
        return Client(api_key=self.key, environment=ENVIRONMENT, base_url=self.url, **options)


def until(is_so: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    node = Node(tmp_path_factory.mktemp("node"))
    try:
        node.prepare()
        yield node
    finally:
        node.kill()


def sees(flags: Client, number: int) -> bool:
    return flags.get_value("a", -1) == number


def names() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("halyard")]


def test_changes_are_seen(node: Node) -> None:
    with node.client() as flags:
        assert flags.ready().status == "ready"
        heard: list[list[str]] = []
        flags.on_change(lambda change: heard.append(change.keys))
        for number in range(1, 4):
            node.put("a", {"enabled": True, "value": number})
            until(partial(sees, flags, number))
        until(lambda: len(heard) == 3)
        assert heard == [["a"]] * 3
        assert node.key not in repr(vars(flags)) + repr(flags)
    until(lambda: not names())


def test_asyncio_reads_are_the_same(node: Node) -> None:
    async def main() -> None:
        async with node.client() as flags:
            assert (await flags.ready_async()).status == "ready"
            assert flags.get_value("a", -1) >= 0

    asyncio.run(main())
    until(lambda: not names())


def test_a_large_answer_is_compressed_and_the_same(node: Node) -> None:
    flags = node.client()
    text = "Fair winds, ⛵ " * 500
    node.put("text", {"enabled": True, "value": text})
    try:
        exchange = Exchange(flags._target)
        # A node compresses a map soon after its change.
        until(lambda: Exchange(flags._target).get("/v1/flags", "application/json").headers.get("Content-Encoding"))
        body: Any = exchange.json(exchange.get("/v1/flags", "application/json"))
        assert body["flags"]["text"]["value"] == text
    finally:
        flags.close()


def test_a_node_is_killed_and_comes_back(node: Node) -> None:
    with node.client(_time_scale=0.1) as flags:
        statuses: list[str] = []
        flags.on_status(statuses.append)
        before = flags.get_value("a", -1)
        node.kill()
        until(lambda: flags.status == "stale")
        assert flags.get_value("a", -1) == before
        node.start()
        node.put("a", {"enabled": True, "value": 77})
        until(lambda: flags.get_value("a", -1) == 77)
        until(lambda: flags.status == "ready")
        assert statuses == ["stale", "ready"]


def in_child(work: Callable[[], object], fork: Callable[[], int]) -> None:
    """Runs work in a forked child, which ends with 0 if it raised nothing."""
    pid = fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_child_has_a_connection_of_its_own(node: Node) -> None:
    with node.client() as flags:
        assert flags.ready().status == "ready"

        def work() -> None:
            assert flags.get_value("a", -1) >= 0
            assert flags.ready().status == "ready"
            node.put("a", {"enabled": True, "value": 101})
            until(lambda: flags.get_value("a", -1) == 101)
            flags.close()

        in_child(work, os.fork)
        until(lambda: flags.get_value("a", -1) == 101)
        assert flags.status == "ready"
        # The child's end did not end the parent's stream.
        node.put("a", {"enabled": True, "value": 102})
        until(lambda: flags.get_value("a", -1) == 102)


def test_nothing_runs_before_the_first_read(node: Node) -> None:
    until(lambda: not names())  # the threads of the test before end after its close()
    flags = node.client()
    try:
        assert names() == []
        assert flags.status == "connecting"
        assert flags.is_enabled("a") in (True, False)
        assert "halyard" in names()
    finally:
        flags.close()


def test_a_client_that_is_dropped_ends(node: Node) -> None:
    flags: Client | None = node.client()
    assert flags
    assert flags.ready().status == "ready"
    assert names()
    flags = None
    until(lambda: not names())
