"""The archive that an XLSX file is, looked through before a reader of workbooks opens it.

A reader makes an object of every element and every attribute, some of them for a whole part at once: a few kilobytes
that unfold into millions would take the memory and the hours of everything else that runs beside it. So the parts are
run through once, with nothing kept, and counted.
"""

import io
import zipfile
from xml.parsers import expat

from django.utils.translation import gettext as _

from projects.imports.limits import LAST_ROW, MOST_AT_ONCE, MOST_NODES, MOST_PARTS, MOST_UNPACKED
from projects.imports.sheet import FileRefused

_CHUNK = 64 * 1024
_LONGEST_TAG = 1024 * 1024
_PIECES = {("row", 3), ("si", 2)}
"""What readers take one at a time and forget again: rows of a sheet and shared texts, at their depth."""


def require_bounded(raw: bytes) -> None:
    """Raises ``FileRefused`` for what unfolds too far, ``BadZipFile`` and the like for what is no archive."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts = archive.infolist()
        unpacked = sum(part.file_size for part in parts)
        if len(parts) > MOST_PARTS or unpacked > MOST_UNPACKED:
            text = _(
                "Unpacked, the workbook has %(count)s parts and %(size)s MiB; at most %(parts)s and %(most)s may be."
            )
            said = {"count": len(parts), "size": unpacked // 2**20, "parts": MOST_PARTS, "most": MOST_UNPACKED // 2**20}
            raise FileRefused(text % said)
        nodes = 0
        for part in parts:
            nodes = _Counter(nodes).run(archive, part)


class _Counter:
    """Counts the elements and attributes of one part; in any encoding, for it reads as the readers do."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.depth = self.outside = self.inside = self.pieces = self.piece_depth = 0
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end

    def run(self, archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
        """The count with this part. What is no XML, an image or a damaged part, is for the reader to judge."""
        fed = 0
        with archive.open(part) as file:
            while chunk := file.read(_CHUNK):
                try:
                    self.parser.Parse(chunk)
                except expat.ExpatError:
                    break
                fed += len(chunk)
                if fed - self.parser.CurrentByteIndex > _LONGEST_TAG:
                    raise _too_much()
        return self.nodes

    def _doctype(self, *_declared: object) -> None:
        raise FileRefused(_("The workbook defines names of its own in its XML, which no spreadsheet program does."))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        weight = 1 + len(attributes)
        self.nodes += weight
        if not self.piece_depth and (name.rpartition(":")[2], self.depth) in _PIECES:
            self.piece_depth, self.inside = self.depth, 0
            self.pieces += 1
        if self.piece_depth:
            self.inside += weight
        else:
            self.outside += weight
        if self.nodes > MOST_NODES or max(self.inside, self.outside) > MOST_AT_ONCE or self.pieces > LAST_ROW:
            raise _too_much()

    def _end(self, _name: str) -> None:
        if self.depth == self.piece_depth:
            self.piece_depth = 0
        self.depth -= 1


def _too_much() -> FileRefused:
    return FileRefused(
        _("The workbook holds far more than its rows can: save the rows alone in a new file, or as CSV UTF-8.")
    )
