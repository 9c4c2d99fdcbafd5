"""What lies in the cache is data, never code.

Django's own serializer is pickle, and whoever can write into Redis could have any command run by whoever reads it:
every node that is woken through the broker holds its password (docs/operations.md), and queues and cache share one.
"""

import json


class JsonSerializer:
    """For ``CACHES``: plain JSON values. Whole numbers stay as they are, so that Redis can count with them."""

    def dumps(self, value: object) -> int | bytes:
        """Raises ``TypeError`` for what is no JSON."""
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes) -> object:
        """The value; None, as if it were not there, for what this never wrote."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None
