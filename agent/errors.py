"""What can go wrong in the agent, in words for whoever reads the log."""


class AgentError(Exception):
    """The agent cannot go on. The message is one line for a person; ``exit_status`` is the process's."""

    exit_status = 1


class BadSettings(AgentError):
    """A setting is missing or makes no sense."""

    exit_status = 2


class PortalProblem(Exception):
    """The portal did not answer, or not as agreed. ``status`` is the HTTP status, None without an answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class LaunchRefused(Exception):
    """This node cannot start this launch; the message becomes the exit record's."""
