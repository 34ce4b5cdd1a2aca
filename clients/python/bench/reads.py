"""What a read costs beside one of a dictionary, and what 10,000 flags weigh. Says figures, asserts none."""

from __future__ import annotations

import json
import timeit
import tracemalloc
from collections.abc import Callable

from openfeature import api
from openfeature.evaluation_context import EvaluationContext

from halyard import Client, HalyardProvider
from halyard._maps import parse_flags, parse_json, reconcile

COUNT = 10_000


def state(number: int) -> dict[str, object]:
    if number % 3 == 0:
        return {"enabled": True}
    return {"enabled": True, "value": f"value-{number}"} if number % 3 == 1 else {"enabled": True, "rolloutPct": 50}


def nanoseconds(read: Callable[[], object], number: int = 200_000) -> float:
    return min(timeit.repeat(read, number=number, repeat=5)) / number * 1e9


def main() -> None:
    text = json.dumps({f"flag-{number}": state(number) for number in range(COUNT)})
    tracemalloc.start()
    flags, _ = parse_flags(parse_json(text))
    used = tracemalloc.get_traced_memory()[0]
    data = json.loads(text)
    plain = tracemalloc.get_traced_memory()[0] - used
    tracemalloc.stop()
    print(f"memory of {COUNT} flags: {used / 1e6:.2f} MB; as json.loads gives them: {plain / 1e6:.2f} MB")

    begun = timeit.default_timer()
    reconcile(flags, parse_flags(parse_json(text))[0])
    print(f"a frame with all of them: {(timeit.default_timer() - begun) * 1e3:.0f} ms of a background thread")

    client = Client(
        api_key="proj_live_none",
        environment="bench",
        base_url="http://127.0.0.1:9",
        bootstrap=data,
        on_error=lambda _: None,
    )
    api.set_provider_and_wait(HalyardProvider(client))
    features = api.get_client()
    context = EvaluationContext("user-1")
    provider = HalyardProvider(client)
    table = {key: member["enabled"] for key, member in data.items()}
    base = nanoseconds(lambda: table.get("flag-3"))
    reads: dict[str, Callable[[], object]] = {
        "a dictionary": lambda: table.get("flag-3"),
        "is_enabled": lambda: client.is_enabled("flag-3"),
        "is_enabled, partial rollout": lambda: client.is_enabled("flag-5", targeting_key="user-1"),
        "get_value": lambda: client.get_value("flag-4", ""),
        "the provider alone": lambda: provider.resolve_boolean_details("flag-3", False, context),
        "OpenFeature": lambda: features.get_boolean_value("flag-3", False, context),
    }
    for name, read in reads.items():
        spent = nanoseconds(read)
        print(f"{name}: {spent:.0f} ns, {spent / base:.1f} times a dictionary")
    client.close()


main()
