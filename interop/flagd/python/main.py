import importlib.metadata
import json
import logging
import platform
import sys

from openfeature import api
from openfeature.contrib.provider.flagd import FlagdProvider
from openfeature.contrib.provider.flagd.config import ResolverType
from openfeature.evaluation_context import EvaluationContext

logging.disable(logging.CRITICAL)
client = api.get_client()


def connect(step):
    api.set_provider_and_wait(
        FlagdProvider(
            resolver_type=ResolverType.FILE,
            offline_flag_source_path=step["url"],
        )
    )
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


def say(data):
    print(json.dumps(data), flush=True)


steps = {"connect": connect, "evaluate": evaluate, "evaluateMany": evaluate_many}
say({
    "provider": importlib.metadata.version("openfeature-provider-flagd"),
    "runtime": f"Python {platform.python_version()}",
})
for line in sys.stdin:
    step = json.loads(line)
    say(steps[step["do"]](step))
api.shutdown()
