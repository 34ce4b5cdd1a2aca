"""Feature flags from Halyard: read from memory, and kept new over a stream.

:class:`Client` reads flags; :class:`halyard.provider.HalyardProvider` answers OpenFeature from one.
"""

from ._follower import Change, Status
from .client import Client, Evaluation, Ready
from .errors import FlagsError
from .evaluation import FlagState
from .provider import HalyardProvider

__all__ = ["Change", "Client", "Evaluation", "FlagState", "FlagsError", "HalyardProvider", "Ready", "Status"]
