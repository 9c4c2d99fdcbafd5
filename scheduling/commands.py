"""A command as people type it. One plain line becomes a program with arguments; anything else a script. Pure."""

import re
import shlex
from collections.abc import Sequence

SHELL = ("bash", "-lc")
_NEEDS_SHELL = re.compile(r"[|&;<>$`*?~#(){}\n]|^\s*\w+=")
"""Outside of quotes these mean something to a shell only."""


def command_of(text: str) -> tuple[str, ...]:
    """One line without shell syntax is split into words; several lines, pipes, variables run under ``bash -lc``.

    Raises ``ValueError`` for a quote that is not closed.
    """
    script = text.replace("\r\n", "\n").strip()
    if not script:
        return ()
    if _NEEDS_SHELL.search(_without_quoted(script)):
        return (*SHELL, script)
    return tuple(shlex.split(script))


def text_of(command: Sequence[str]) -> str:
    """The text from which ``command_of`` makes this command."""
    if tuple(command[:2]) == SHELL and len(command) == 3 and command_of(command[2]) == tuple(command):
        return command[2]
    return shlex.join(command)


def _without_quoted(text: str) -> str:
    """The text without what stands in single quotes: nothing in them means anything to a shell."""
    return re.sub(r"'[^']*'", "", text)
