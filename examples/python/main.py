# snippet
import os

from halyard import HalyardProvider
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import OpenFeatureError

try:
    api.set_provider_and_wait(
        HalyardProvider(
            base_url="http://127.0.0.1:7070",
            api_key=os.environ["HALYARD_KEY"],
            environment="development",
        )
    )
except OpenFeatureError as error:
    print(error)  # reads give defaults until the cause has passed
flags = api.get_client()
user = EvaluationContext(targeting_key="user-1")
is_on = flags.get_boolean_value("dark-mode", False, user)
# end of snippet

print("dark-mode", is_on)
api.shutdown()
