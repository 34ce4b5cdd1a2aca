# snippet
import os

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

api.set_provider(
    OFREPProvider(
        "http://127.0.0.1:7070/environments/development",
        headers_factory=lambda: {"X-API-Key": os.environ["HALYARD_KEY"]},
    )
)
flags = api.get_client()
user = EvaluationContext(targeting_key="user-1")
is_on = flags.get_boolean_value("dark-mode", False, user)
# end of snippet

print("dark-mode", is_on)
