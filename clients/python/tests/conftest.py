"""What all tests share: the repository, its fixtures, and the server of broken behaviors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
import traceback
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def fixture(name: str) -> Any:
    """A file of `conformance/fixtures`."""
    return json.loads((ROOT / "conformance/fixtures" / f"{name}.json").read_text())


def ask(url: str, method: str = "GET") -> Any:
    """The JSON of an answer, whatever its status."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, method=method), timeout=60) as response:
        return json.loads(response.read())


@cache
def contract_server() -> tuple[str, subprocess.Popen[bytes]]:
    """The server of broken behaviors; it ends when its input does."""
    bun = shutil.which("bun")
    if bun is None:
        pytest.exit("these tests need bun on the PATH: the server of broken behaviors runs on it", 2)
    command = [bun, str(ROOT / "conformance/clients/serve.ts")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    return json.loads(process.stdout.readline())["url"], process


@pytest.fixture(scope="session", autouse=True)
def _end() -> Iterator[None]:
    """No thread of a client outlives its end, and the server ends with the tests."""
    yield
    deadline = time.monotonic() + 20
    while any(thread.name.startswith("halyard") for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.01)
    frames = sys._current_frames()
    left = [
        f"{thread.name}: {''.join(traceback.format_stack(frames[thread.ident or 0]))}"
        for thread in threading.enumerate()
        if thread.name.startswith("halyard")
    ]
    assert left == []
    if contract_server.cache_info().currsize:
        process = contract_server()[1]
        process.communicate(timeout=30)
