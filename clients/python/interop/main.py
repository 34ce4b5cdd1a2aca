"""Drives the provider for `bun run interop`: JSON lines in, JSON lines out, as `interop/README.md` says."""

from __future__ import annotations

import gc
import importlib.metadata
import json
import logging
import platform
import sys
import threading
import time
import tracemalloc
from typing import Any
from urllib.parse import urlsplit

from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import OpenFeatureError

from halyard import Client, HalyardProvider
from halyard.evaluation import NOT_GIVEN

logging.disable(logging.CRITICAL)
features = api.get_client()
speaking = threading.Lock()
flags: Client


def say(data: dict[str, Any]) -> None:
    with speaking:
        print(json.dumps(data), flush=True)


def connect(step: dict[str, Any]) -> dict[str, Any]:
    global flags
    url, headers = urlsplit(step["url"]), dict(step["headers"])
    path = url.path.split("/")
    environment = headers.pop("X-Flags-Environment", "")
    if path[1:2] == ["environments"]:
        environment = path[2]
    key = next(iter(headers.values())).removeprefix("Bearer ")
    provider = HalyardProvider(api_key=key, environment=environment, base_url=f"{url.scheme}://{url.netloc}")
    try:
        api.set_provider_and_wait(provider)
    except OpenFeatureError:
        pass  # reads then say why
    flags = provider.client
    return {}


def details(step: dict[str, Any], targeting_key: str | None) -> Any:
    read = getattr(features, f"get_{step['type']}_details")
    return read(step["key"], step["default"], EvaluationContext(targeting_key, step.get("attributes", {})))


def evaluate(step: dict[str, Any]) -> dict[str, Any]:
    answer = details(step, step.get("targetingKey"))
    return {
        "value": answer.value,
        "reason": answer.reason,
        "variant": answer.variant,
        "errorCode": answer.error_code,
        "metadata": dict(answer.flag_metadata),
    }


def evaluate_many(step: dict[str, Any]) -> dict[str, Any]:
    return {"values": [details(step, key).value for key in step["targetingKeys"]]}


def time_reads(step: dict[str, Any]) -> dict[str, Any]:
    key, user = step["key"], EvaluationContext(step["targetingKey"])
    reads, begun = 0, time.perf_counter_ns()
    while (spent := time.perf_counter_ns() - begun) < step["ms"] * 1e6:
        for _ in range(100):
            features.get_boolean_value(key, False, user)
        reads += 100
    return {"reads": reads, "nanoseconds": spent}


def memory(_: dict[str, Any]) -> dict[str, Any]:
    # Tracing begins here: what was taken before counts for nothing.
    tracemalloc.start()
    gc.collect()
    return {"bytes": tracemalloc.get_traced_memory()[0]}


def watch(step: dict[str, Any]) -> dict[str, Any]:
    key, client = step["key"], flags

    def line(revision: int | None) -> dict[str, Any]:
        state = client.get_state(key)
        said: dict[str, Any] = {"key": key, "revision": revision, "enabled": state is not None and state.enabled}
        if state is not None and state.value is not NOT_GIVEN:
            said["value"] = state.value
        return said

    client.on_change(lambda change: say(line(change.revision)) if key in change.keys else None)
    return line(client.revision)


def main() -> None:
    steps = {
        "connect": connect,
        "evaluate": evaluate,
        "evaluateMany": evaluate_many,
        "time": time_reads,
        "memory": memory,
        "watch": watch,
    }
    say(
        {
            "provider": importlib.metadata.version("halyard-flags"),
            "runtime": f"Python {platform.python_version()}",
        }
    )
    for text in sys.stdin:
        step = json.loads(text)
        say(steps[step["do"]](step))
    api.shutdown()


main()
