"""Ten thousand rows: how many statements and how much time they take."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.tests import factories as people
from projects.imports import services as imports
from projects.imports import work
from projects.imports.columns import compute_key
from projects.imports.limits import MOST_ROWS
from projects.imports.snapshot import editable_by
from projects.imports.writing import csv_file, template_columns
from projects.models import Project, ProjectImport
from projects.tests import factories

pytestmark = pytest.mark.django_db
COLUMNS = template_columns(["h100"])


def rows(count: int) -> list[dict[str, str | int | None]]:
    """New projects that state everything."""
    parts = {"min": 1, "target": 2, "max": 4}
    gpus = {compute_key("h100", part): value for part, value in parts.items()}
    facts: dict[str, str | int | None] = {
        "goal": "Halve the cost 降低成本",
        "kind": "research",
        "stage": "training",
        "breakthrough": 7,
        **gpus,
    }
    both = "2030-05-01 First run\n2030-06-01 Second run"
    return [{"name": f"Project 项目 {n}", **facts, "datasets": "a|b", "milestones": both} for n in range(count)]


def spent(owner: Person, content: bytes) -> tuple[ProjectImport, int, float]:
    """The import after check and application, the statements of both, and the processor time in seconds."""
    made = imports.import_upload(actor=owner, file_name="many.csv", content=content)
    began = time.process_time()
    with CaptureQueriesContext(connection) as captured:
        work.check(made.pk)
        made.refresh_from_db()
        imports.import_apply(actor=owner, import_id=made.pk)
        work.apply(made.pk)
    taken = time.process_time() - began
    made.refresh_from_db()
    assert made.state == "applied", made.faults
    return made, len(captured), taken


def test_more_rows_take_few_more_statements() -> None:
    factories.gpu_model("h100")
    owner = people.person()
    _made, few, _s = spent(owner, csv_file(rows(1000), COLUMNS))
    again = [{**row, "name": f"Other {row['name']}"} for row in rows(3000)]
    _made, many, _s = spent(owner, csv_file(again, COLUMNS))
    assert (many - few) / 2 <= 30
    assert few <= 90


def test_changing_many_takes_few_statements() -> None:
    factories.gpu_model("h100")
    owner = people.person()
    spent(owner, csv_file(rows(1200), COLUMNS))
    known = [dict(row.cells) for row in editable_by(owner)]
    changed = [{**row, "goal": "Another", "milestones": "2031-01-01 First run"} for row in known]
    _made, few, _s = spent(owner, csv_file(changed[:200], COLUMNS))
    _made, many, _s = spent(owner, csv_file(changed[200:], COLUMNS))
    assert many - few <= 30


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_rows_take_less_than_a_minute() -> None:
    factories.gpu_model("h100")
    owner = people.person()
    made, statements, taken = spent(owner, csv_file(rows(MOST_ROWS), COLUMNS))
    assert (made.new, Project.objects.count()) == (MOST_ROWS, MOST_ROWS)
    assert statements <= 500
    assert taken <= 60
