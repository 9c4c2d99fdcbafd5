"""Exported for editing and imported as it is: nothing changes, whatever the texts are."""

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Person
from accounts.tests import factories as people
from kernel.tests.examples import examples
from projects import services
from projects.facts import ComputeAsked, Facts, MilestoneAsked
from projects.imports import services as imports
from projects.imports import work
from projects.imports.snapshot import editable_by
from projects.imports.writing import csv_file, template_columns, xlsx_file
from projects.models import Project, ResearchArea
from projects.tests import factories

pytestmark = pytest.mark.django_db
HOSTILE = [
    *("=1+1", "'=1+1", "''=cmd|' /C calc'!A0", "+49", "-1", "@SUM(A1)", "\t=1", " =1", "'", "it's", "'quoted'"),
    *('"', '""', 'a "b", c; d', "a;b", "a,b", "a|b", "|", "a\tb", "_x000D_", "_x0041_", "_x005F_x000D_", "x005F_"),
    *(
        "met 2026-01-01",
        "Comet 2026-01-01",
        "A met 2026-01-01",
        "A met -",
        "2026-01-01",
        "多模态语音翻译（试验）",
        "🦀 ﷽ ‮​",
    ),
    *("<script>alert(1)</script>", "&amp; &lt;", "NULL", "None", "TRUE", "007", "1e5", "a\x07b", "a\x0bb", "\ufeffBOM"),
]
TEXTS = st.sampled_from(HOSTILE) | st.text(
    alphabet=st.sampled_from("'=+-@|;,\"\n\r\t _x0DmetM名 🦀\x07\x85\u2028"), max_size=25
)
DAYS = st.dates(date(2000, 1, 1), date(2020, 1, 1))


@st.composite
def stated(draw: st.DrawFn) -> Facts:
    """Everything that a project can state, with texts that mean something to spreadsheets."""
    names = draw(st.lists(TEXTS.filter(lambda text: bool(text.split())), max_size=4, unique_by=squeezed))
    met = st.none() | DAYS
    return {
        "name": "n " + draw(TEXTS),
        "goal": draw(TEXTS),
        "kind": draw(st.sampled_from(["research", "product"])),
        "stage": draw(st.sampled_from(["", "training"])),
        "area": draw(st.sampled_from([None, "vision"])),
        "data_class": draw(st.sampled_from(["open", "restricted"])),
        "breakthrough": draw(st.none() | st.integers(0, 10)),
        "datasets": draw(st.lists(TEXTS, max_size=3)),
        "expected_compute": [ComputeAsked("h100", 0, 2, 4)] if draw(st.booleans()) else [],
        "milestones": [MilestoneAsked(name, draw(DAYS), draw(met)) for name in names],
    }


def squeezed(text: str) -> str:
    return " ".join(text.split()).casefold()


def outcome(owner: Person, content: bytes) -> dict[str, object]:
    made = imports.import_upload(actor=owner, file_name="again", content=content)
    work.check(made.pk)
    made.refresh_from_db()
    rows = [(row.kind, row.changes, row.faults) for row in made.rows.exclude(kind="unchanged")]
    result = {"state": made.state, "faults": made.faults, "others": rows, "unchanged": made.unchanged}
    made.delete()
    return result


@pytest.fixture
def owner() -> Person:
    factories.gpu_model("h100")
    ResearchArea.objects.create(name="vision", title="Computer vision")
    return people.person()


@settings(
    max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
@given(facts=st.lists(stated(), min_size=1, max_size=4))
def test_what_is_exported_for_editing_changes_nothing(owner: Person, facts: list[Facts]) -> None:
    for number, one in enumerate(facts):
        services.project_create(actor=owner, facts={**one, "name": f"{number} {one['name']}"[:200]})
    try:
        assert_same(owner)
    finally:
        put_away(owner)


def put_away(owner: Person) -> None:
    """The next example begins with none."""
    for project in Project.objects.filter(state="draft"):
        services.project_close(actor=owner, project_id=project.pk, reason="For the next example")


def assert_same(owner: Person) -> None:
    rows, columns = [known.cells for known in editable_by(owner)], template_columns(["h100"])
    expected = {"state": "checked", "faults": [], "others": [], "unchanged": len(rows)}
    assert outcome(owner, csv_file(rows, columns)) == expected
    assert outcome(owner, xlsx_file(rows, columns, list(ResearchArea.objects.all()))) == expected


def test_every_hostile_text_as_name_goal_dataset_and_milestone(owner: Person) -> None:
    for number, text in enumerate(HOSTILE):
        milestones = [MilestoneAsked(text, date(2030, 1, 1), met) for met in (None,) if text.split()]
        facts: Facts = {"name": f"{text} {number}", "goal": text, "datasets": [text], "milestones": milestones}
        services.project_create(actor=owner, facts=facts)
    assert_same(owner)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_hostile_texts_arrive_as_they_are_in_new_projects(owner: Person, form: str) -> None:
    """Control characters are refused, what looks like the file format's own escape is read as one; the rest stays."""
    texts = [text for text in HOSTILE if not {"\x07", "\x0b"} & set(text) and "x005F" not in text and text != "_x000D_"]
    columns = template_columns(["h100"])
    rows = [{"name": f"{number}", "goal": text} for number, text in enumerate(texts)]
    content = csv_file(rows, columns) if form == "csv" else xlsx_file(rows, columns, [])
    made = imports.import_upload(actor=owner, file_name="new", content=content)
    work.check(made.pk)
    imports.import_apply(actor=owner, import_id=made.pk)
    work.apply(made.pk)
    assert dict(Project.objects.values_list("name", "goal")) == {row["name"]: row["goal"] for row in rows}
