"""Files of projects for tests: written, checked and applied by the services and the work behind them."""

import csv
import io
from collections.abc import Sequence

from accounts.models import Person
from accounts.tests import factories as people
from projects.imports import services as imports
from projects.imports import work
from projects.models import ImportRow, ProjectImport, ResearchArea
from projects.tests import factories


def importer() -> Person:
    """Somebody who may import, with a GPU model and a research area that files can name."""
    factories.gpu_model("h100")
    ResearchArea.objects.create(name="vision", title="Computer vision")
    return people.person("ada")


def a_file(*rows: Sequence[object], head: str = "name,goal,stage") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(head.split(","))
    writer.writerows(rows)
    return text.getvalue().encode()


def checked(owner: Person, content: bytes, **more: bool) -> ProjectImport:
    made = imports.import_upload(actor=owner, file_name="projects.csv", content=content, **more)
    work.check(made.pk)
    made.refresh_from_db()
    return made


def applied(owner: Person, content: bytes, **more: bool) -> ProjectImport:
    made = checked(owner, content)
    imports.import_apply(actor=owner, import_id=made.pk, **more)
    work.apply(made.pk)
    made.refresh_from_db()
    return made


def faults(made: ProjectImport) -> dict[int, list[tuple[str, str]]]:
    """Column and sentence of every refusal, by row."""
    rows = ImportRow.objects.filter(of=made, kind="refused")
    return {row.line: [(column, why) for column, _value, why in row.faults] for row in rows}
