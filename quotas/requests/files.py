"""Which files may speak for a request. The type follows from the name, and the bytes must be of that type."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from kernel.formats import byte_size

MOST_BYTES = 5 * 1024 * 1024
MOST_FILES = 5
MOST_NAME = 120
_TEXT = "text/plain; charset=utf-8"
_UNSAFE = re.compile(r'[\\/:*?"<>|;%\x00-\x1f\x7f]+')


def _begins(*heads: bytes) -> Callable[[bytes], bool]:
    return lambda content: content.startswith(heads)


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False


@dataclass(frozen=True, slots=True)
class FileType:
    """What is sent as ``content_type``: texts as plain ones, so that no browser ever runs them."""

    content_type: str
    is_of: Callable[[bytes], bool]


TYPES: dict[str, FileType] = {
    "csv": FileType(_TEXT, _is_text),
    "jpeg": FileType("image/jpeg", _begins(b"\xff\xd8\xff")),
    "jpg": FileType("image/jpeg", _begins(b"\xff\xd8\xff")),
    "md": FileType(_TEXT, _is_text),
    "pdf": FileType("application/pdf", _begins(b"%PDF-")),
    "png": FileType("image/png", _begins(b"\x89PNG\r\n\x1a\n")),
    "txt": FileType(_TEXT, _is_text),
    "xlsx": FileType("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _begins(b"PK\x03\x04")),
}
"""By the ending of the name. Nothing else is taken."""


def tidy_name(name: str) -> str:
    """The file's own name without a path, control and direction marks, and what file systems do not take."""
    last = re.split(r"[\\/]", unicodedata.normalize("NFC", name))[-1]
    plain = "".join(char for char in last if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
    plain = _UNSAFE.sub("_", plain).strip(" .")
    stem, dot, ending = plain.rpartition(".")
    if not dot:
        return plain[:MOST_NAME]
    return f"{stem[: MOST_NAME - len(ending) - 1].strip(' .') or 'file'}.{ending.lower()}"


def type_of(name: str) -> FileType | None:
    """By the ending of a tidy name."""
    return TYPES.get(name.rpartition(".")[2].lower())


def size_faults(name: str, size: int) -> list[str]:
    """The same of its size in bytes alone: what is too large need not be read."""
    if size <= MOST_BYTES:
        return []
    text = _("“%(name)s” has %(size)s; at most %(most)s can be attached.")
    return [text % {"name": name[:60], "size": byte_size(size), "most": byte_size(MOST_BYTES)}]


def faults_of(name: str, content: bytes) -> list[str]:
    """Why this file cannot be taken, in words."""
    kind = type_of(name)
    if kind is None:
        text = _("“%(name)s” is no file that can be attached; allowed: %(allowed)s.")
        return [text % {"name": name[:60], "allowed": ", ".join(sorted(TYPES))}]
    if not content:
        return [_("“%(name)s” is empty.") % {"name": name[:60]}]
    if too_large := size_faults(name, len(content)):
        return too_large
    if not kind.is_of(content):
        return [_("“%(name)s” does not hold what its name says.") % {"name": name[:60]}]
    return []
