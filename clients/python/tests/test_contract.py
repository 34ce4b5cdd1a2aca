"""Every scenario of `conformance/clients`, whose README says what each step does."""

from __future__ import annotations

import queue
import threading
import time
import urllib.error
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from conftest import ask, contract_server
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.event import EventDetails, ProviderEvent
from openfeature.exception import OpenFeatureError

from halyard import HalyardProvider

OPTIONS = {
    "timeScale": "_time_scale",
    "targetingKey": "targeting_key",
    "reportUsage": "report_usage",
    "bootstrap": "bootstrap",
    "apiKey": "api_key",
    "environment": "environment",
    "baseUrl": "base_url",
    "insecure": "allow_insecure_http",
}


class Interpreter:
    """Does the steps of one run."""

    def __init__(self, run: dict[str, Any], folder: Path) -> None:
        self.server = contract_server()[0]
        self.run = run
        self.folder = folder
        self.domain = f"contract-{run['id']}"
        self.features = api.get_client(self.domain)
        self.provider: HalyardProvider | None = None
        self.setting: threading.Thread | None = None
        self.events: queue.Queue[tuple[str, set[str]]] = queue.Queue()
        self.handlers = {event: self.listener(event) for event in ProviderEvent}

    def listener(self, event: ProviderEvent) -> Any:
        def hear(details: EventDetails) -> None:
            self.events.put((event.value, set(details.flags_changed or [])))

        return hear

    def do(self, step: dict[str, Any]) -> None:
        getattr(self, f"do_{step['do']}")(**{key: value for key, value in step.items() if key != "do"})

    def do_open(self, options: dict[str, Any] | None = None) -> None:
        given = {"baseUrl": self.run["baseUrl"], "apiKey": self.run["apiKey"], "environment": self.run["environment"]}
        given |= options or {}
        for part, text in {"{key}": self.run["apiKey"], "{port}": self.run["baseUrl"].rpartition(":")[2]}.items():
            given = {name: each.replace(part, text) if isinstance(each, str) else each for name, each in given.items()}
        arguments = {OPTIONS[name]: value for name, value in given.items() if name in OPTIONS}
        if given.get("statePath"):
            arguments["state_path"] = self.folder / "flags.txt"
        if "stateMaxAgeMs" in given:
            arguments["state_max_age"] = given["stateMaxAgeMs"] / 1000
        provider = self.provider = HalyardProvider(**arguments)

        def set_provider() -> None:
            try:
                api.set_provider_and_wait(provider, self.domain)
            except OpenFeatureError:
                pass  # the step `ready` judges that

        for event, handler in self.handlers.items():
            self.features.add_handler(event, handler)
        self.setting = threading.Thread(target=set_provider)
        self.setting.start()

    def do_ready(self, expect: str, withinMs: int) -> None:
        assert self.provider
        assert self.setting
        since = time.monotonic()
        result = self.provider.client.ready()
        self.setting.join(withinMs / 1000)
        assert not self.setting.is_alive()
        assert result.status == expect, result
        assert time.monotonic() - since <= withinMs / 1000

    def matches(self, read: dict[str, Any]) -> tuple[bool, Any]:
        ask_for = {
            "boolean": self.features.get_boolean_details,
            "string": self.features.get_string_details,
            "integer": self.features.get_integer_details,
            "float": self.features.get_float_details,
            "object": self.features.get_object_details,
        }[read["type"]]
        default = float(read["default"]) if read["type"] == "float" else read["default"]
        answer: Any = ask_for(read["key"], default, EvaluationContext(read.get("targetingKey")))  # type: ignore[operator]
        given = {
            "value": answer.value,
            "reason": answer.reason,
            "variant": answer.variant,
            "errorCode": answer.error_code,
            "metadata": dict(answer.flag_metadata),
        }
        return all(given[name] == wanted for name, wanted in read["expect"].items()), given

    def do_read(self, withinMs: int = 0, **read: Any) -> None:
        deadline = time.monotonic() + withinMs / 1000
        while True:
            is_match, given = self.matches(read)
            if is_match:
                return
            assert time.monotonic() < deadline, f"expected {read['expect']}, got {given}"
            time.sleep(0.005)

    def do_steady(self, read: dict[str, Any], forMs: int) -> None:
        deadline = time.monotonic() + forMs / 1000
        while time.monotonic() < deadline:
            is_match, given = self.matches(read)
            assert is_match, f"expected {read['expect']}, got {given}"
            time.sleep(0.005)

    def do_status(self, expect: str, withinMs: int) -> None:
        assert self.provider
        deadline = time.monotonic() + withinMs / 1000
        while self.provider.client.status != expect:
            assert time.monotonic() < deadline, f"the status is {self.provider.client.status}"
            time.sleep(0.005)

    def do_event(self, expect: dict[str, Any], withinMs: int) -> None:
        wanted = (expect["type"], set(expect["keys"]) if "keys" in expect else None)
        deadline = time.monotonic() + withinMs / 1000
        seen: list[tuple[str, set[str]]] = []
        while True:
            try:
                kind, keys = self.events.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"expected {wanted}, got {seen}")
            seen.append((kind, keys))
            if kind == wanted[0] and wanted[1] in (None, keys):
                return

    def do_act(self, name: str, withinMs: int) -> None:
        try:
            ask(f"{self.server}/runs/{self.run['id']}/acts/{quote(name)}", "POST")
        except urllib.error.HTTPError as error:
            pytest.fail(f"act {name}: {error.read().decode()}")

    def do_close(self) -> None:
        if self.provider:
            self.provider.shutdown()

    def do_verdict(self) -> None:
        verdict = ask(f"{self.server}/runs/{self.run['id']}/verdict")
        assert verdict == {"ok": True}

    def end(self) -> None:
        self.do_close()
        for event, handler in self.handlers.items():
            if self.provider:
                self.features.remove_handler(event, handler)


def scenarios() -> list[Any]:
    server = contract_server()[0]
    return [pytest.param(each, id=f"{each['clause']} {each['name']}") for each in ask(f"{server}/scenarios")]


@pytest.mark.parametrize("scenario", scenarios())
def test_scenario(scenario: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = contract_server()[0]
    run = ask(f"{server}/scenarios/{quote(scenario['name'])}/runs", "POST")
    interpreter = Interpreter(run, tmp_path)
    try:
        for step in scenario["steps"]:
            try:
                interpreter.do(step)
            except AssertionError as error:
                raise AssertionError(f"{step}: {error}") from error
    finally:
        interpreter.end()
    assert run["apiKey"] not in caplog.text
