"""How long to wait after failures: doubling, with jitter, bounded."""

from random import SystemRandom

FIRST_S = 0.5
LONGEST_S = 15.0

_random = SystemRandom()


class Backoff:
    """Counts failures in a row. With jitter, so that a thousand nodes do not come back in one instant."""

    def __init__(self, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self.failures = 0

    def failed(self) -> float:
        """Another failure: seconds to wait now, between half the step and the whole."""
        step = min(self._longest_s, self._first_s * 2 ** min(self.failures, 16))
        self.failures += 1
        return _random.uniform(step / 2, step)

    def succeeded(self) -> None:
        """Begin anew."""
        self.failures = 0
