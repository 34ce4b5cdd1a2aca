"""The program of the README runs as it is printed, and prints what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from test_live import Node


def test_the_program_runs_as_printed(tmp_path: Path) -> None:
    text = (ROOT / "clients/python/README.md").read_text()
    match = re.search(r"```python\n# hello\.py\n(.*?)```", text, re.DOTALL)
    assert match
    node = Node(tmp_path / "node")
    try:
        node.prepare("development")
        node.put("dark-mode", {"enabled": True})
        node.put("upload-limit-mb", {"enabled": True, "value": 100})
        environment = {**os.environ, "HALYARD_URL": node.url, "HALYARD_KEY": node.key}
        environment["PYTHONPATH"] = str(ROOT / "clients/python/src")
        done = subprocess.run(
            [sys.executable, "-c", match[1]], env=environment, capture_output=True, text=True, timeout=60
        )
    finally:
        node.kill()
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines == ["dark-mode True", "upload limit 100 MB"]
    assert all(f"`{line}`" in text for line in lines)
