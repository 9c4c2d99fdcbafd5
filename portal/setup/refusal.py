"""Why ``./run`` gave up: one clear line and an exit code of its own for each kind of reason."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Documented in docs/operations.md; programs may rely on them."""

    USAGE = 2
    WRONG_PYTHON = 10
    SYSTEM_PACKAGE = 11
    NO_ROOM = 12
    NO_NETWORK = 13
    SETUP = 14
    DATA_FOLDER = 15
    IN_USE = 16
    PORT_TAKEN = 17
    SERVICE = 18
    BACKUP = 19
    INTERRUPTED = 130


class Refusal(Exception):
    """Ends the program with ``message`` on standard error, in one line, without a traceback."""

    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
