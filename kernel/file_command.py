"""Management commands that read and write files: bad input ends with exit 2, one fault a line, nothing written."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel.documents import BadInput, parse

BAD_INPUT = 2


class FileCommand(BaseCommand):
    """Puts the faults of its input on standard error as they are, one a line, without the name of an exception."""

    requires_system_checks = ()

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            is_shell = getattr(self, "_called_from_command_line", False) and not options.get("traceback")
            if not is_shell or error.returncode != BAD_INPUT:
                raise
            self.stderr.write(str(error))
            sys.exit(BAD_INPUT)


def document_of(path: Path, *, is_exact: bool = False) -> Any:
    """The JSON of a file; ``is_exact``: fractions as decimals. Raises ``CommandError`` with exit code 2."""
    try:
        return parse(path.read_text(encoding="utf-8"), is_exact=is_exact)
    except BadInput as error:
        raise CommandError(str(error), returncode=BAD_INPUT) from error
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {error}", returncode=BAD_INPUT) from error


def spare_input(source: Path, out: Path) -> None:
    """Refuse to write over what was read. Raises ``CommandError`` with exit code 2."""
    with suppress(OSError, ValueError):
        if out.is_file() and out.samefile(source):
            raise CommandError(f"--out: {out} is the input itself", returncode=BAD_INPUT)


def write_whole(path: Path, text: str) -> None:
    """Whole or not at all; what is no plain file, such as ``/dev/stdout``, is written to and not replaced."""
    half = path.with_name(f".{path.name}.part")
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_text(f"{text}\n", encoding="utf-8")
            return
        half.write_text(f"{text}\n", encoding="utf-8")
        half.replace(path)
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):
            half.unlink()
        raise CommandError(f"--out: {error}", returncode=BAD_INPUT) from error
