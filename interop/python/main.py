import importlib.metadata
import json
import logging
import platform
import sys
import time

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

logging.disable(logging.CRITICAL)
client = api.get_client()


def connect(step):
    headers = step["headers"]
    api.set_provider(OFREPProvider(step["url"], headers_factory=lambda: headers))
    return {}


def details(step, targeting_key):
    read = {
        "boolean": client.get_boolean_details,
        "string": client.get_string_details,
        "integer": client.get_integer_details,
        "float": client.get_float_details,
        "object": client.get_object_details,
    }[step["type"]]
    return read(step["key"], step["default"], EvaluationContext(targeting_key, step.get("attributes", {})))


def evaluate(step):
    answer = details(step, step.get("targetingKey"))
    return {
        "value": answer.value,
        "reason": answer.reason,
        "variant": answer.variant,
        "errorCode": answer.error_code,
        "metadata": dict(answer.flag_metadata),
    }


def evaluate_many(step):
    return {"values": [details(step, key).value for key in step["targetingKeys"]]}


def time_reads(step):
    key, user = step["key"], EvaluationContext(step["targetingKey"])
    reads, begun = 0, time.perf_counter_ns()
    while (spent := time.perf_counter_ns() - begun) < step["ms"] * 1e6:
        for _ in range(100):
            client.get_boolean_value(key, False, user)
        reads += 100
    return {"reads": reads, "nanoseconds": spent}


def say(data):
    print(json.dumps(data), flush=True)


steps = {"connect": connect, "evaluate": evaluate, "evaluateMany": evaluate_many, "time": time_reads}
say({
    "provider": importlib.metadata.version("openfeature-provider-ofrep"),
    "runtime": f"Python {platform.python_version()}",
})
for line in sys.stdin:
    step = json.loads(line)
    say(steps[step["do"]](step))
api.shutdown()
