"""From the bytes of a file to rows under known columns."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from projects.imports.columns import Head, counting, read_head
from projects.imports.csv_file import read_csv
from projects.imports.limits import MOST_BYTES
from projects.imports.sheet import FileRefused, Sheet
from projects.imports.xlsx_file import read_xlsx

_ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def read(raw: bytes, gpu_models: Iterable[str], *, ignores_unknown: bool) -> tuple[Sheet, Head]:
    """Raises ``FileRefused`` for a file that cannot be taken as a whole; ``UnknownColumns`` for its head."""
    require_size(len(raw))
    names = list(gpu_models)
    if raw.startswith(_OLD_EXCEL):
        raise FileRefused(
            _("This is the format of Excel before 2007, or has a password. Save it as XLSX or CSV UTF-8.")
        )
    sheet = read_xlsx(raw) if raw.startswith(_ZIP) else read_csv(raw, counting(names))
    head = read_head(sheet, names)
    if head.doubled:
        text = _("Each column may be there once; twice are: %(names)s.")
        raise FileRefused(text % {"names": ", ".join(head.doubled)})
    if not head.places:
        text = _("The first row names none of our columns; it begins with %(names)s. The template has them all.")
        raise FileRefused(text % {"names": ", ".join(f"“{name}”" for name in head.unknown[:5])})
    if head.unknown and not ignores_unknown:
        raise UnknownColumns(head.unknown)
    return sheet, head


def require_size(size: int) -> None:
    if size > MOST_BYTES:
        text = _("%(size)s MiB; at most %(most)s MiB are allowed. Split the file.")
        raise FileRefused(text % {"size": round(size / 2**20, 1), "most": MOST_BYTES // 2**20})
    if size == 0:
        raise FileRefused(_("The file is empty. Its first row names the columns, each further row is a project."))


class UnknownColumns(FileRefused):
    """``names``: the heads that are no column of ours."""

    code = "unknown_columns"

    def __init__(self, names: list[str]) -> None:
        self.names = names
        text = _("There are no such columns: %(names)s. Correct their heads, or check again without them.")
        super().__init__(text % {"names": ", ".join(f"“{name}”" for name in names[:20])}, data={"columns": names})
