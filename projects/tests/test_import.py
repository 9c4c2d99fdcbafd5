"""Importing projects: judged row by row as by hand, and written as by hand."""

from datetime import date

import pytest

from accounts.models import Person, Role
from accounts.tests import factories as people
from kernel.errors import Conflict
from kernel.models import AuditEntry
from projects import policies, services
from projects.facts import MilestoneAsked
from projects.imports import services as imports
from projects.imports import work
from projects.models import Membership, Project, ProjectChange
from projects.tests import factories
from projects.tests.sheets import a_file, applied, checked, faults, importer

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Person:
    return importer()


FULL = "name,goal,kind,stage,area,data class,breakthrough,datasets,h100 min,h100 target,h100 max,milestones"


def test_new_projects_are_registered_as_by_hand(owner: Person) -> None:
    row = ["Sparse attention", "Half the cost", "Product", "Launch preparation", "Computer vision", "Restricted", 7]
    row += ["corpora/web|corpora/books", 0, 2, 4, "2030-05-01 First run\n2030-06-01 Second met 2026-01-02"]
    made = applied(owner, a_file(row, head=FULL))
    assert (made.state, made.new, made.refused) == ("applied", 1, 0), made.faults
    project = Project.objects.get()
    assert (project.name, project.kind, project.stage, project.data_class) == (
        "Sparse attention",
        "product",
        "launch_preparation",
        "restricted",
    )
    assert (project.state, project.area.name, project.breakthrough) == ("draft", "vision", 7)  # type: ignore[union-attr]
    assert project.datasets == ["corpora/web", "corpora/books"]
    assert list(project.expected_compute.values_list("min", "target", "max")) == [(0, 2, 4)]
    assert list(project.milestones.values_list("name", "due_on", "met_on")) == [
        ("First run", date(2030, 5, 1), None),
        ("Second", date(2030, 6, 1), date(2026, 1, 2)),
    ]
    by_hand = services.project_create(actor=owner, facts={"name": "By hand"})
    assert traces(project) == traces(by_hand)
    assert policies.role_on(owner, project) == "lead"
    services.project_submit(actor=owner, project_id=project.pk)


def traces(project: Project) -> tuple[object, ...]:
    """What registering leaves: history, audit, team; without what is the project's own."""
    history = list(ProjectChange.objects.filter(project=project).values_list("field", "before", "after", "by"))
    entries = AuditEntry.objects.filter(subject_type="projects.project", subject_id=str(project.pk))
    audit = [(entry.action, entry.before, set(entry.after or ()), entry.actor_id) for entry in entries]
    team = list(Membership.objects.filter(project=project).values_list("person", "role", "left_at", "added_by"))
    return history, audit, team


def test_a_change_is_what_an_edit_by_hand_is(owner: Person) -> None:
    first, second = (factories.draft_project(lead=owner, goal="As it was") for _ in range(2))
    head = "id,goal,breakthrough,h100 max,milestones"
    row = ["New goal", 9, 8, "2030-02-28 first result\n2031-01-01 Second"]
    made = applied(owner, a_file([first.pk, *row], head=head))
    assert (made.state, made.changed) == ("applied", 1), faults(made)
    facts = factories.full_facts(goal="New goal", breakthrough=9)
    compute = [type(asked)(asked.gpu_model, asked.min, asked.target, 8) for asked in facts["expected_compute"]]
    services.project_edit(
        actor=owner,
        project_id=second.pk,
        changes={
            "goal": "New goal",
            "breakthrough": 9,
            "expected_compute": compute,
            "milestones": [
                MilestoneAsked("first result", date(2030, 2, 28), None),
                MilestoneAsked("Second", date(2031, 1, 1), None),
            ],
        },
    )
    assert changes(first) == changes(second)


def changes(project: Project) -> tuple[list[object], list[object]]:
    """History and audit of an edit without the ids of milestones."""

    def plain(value: object) -> object:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items() if key != "id"}
        return [plain(item) for item in value] if isinstance(value, list) else value

    lines = ProjectChange.objects.filter(project=project).exclude(field="member").order_by("id")
    entries = AuditEntry.objects.filter(subject_id=str(project.pk), action="project.edited")
    return [(line.field, plain(line.before), plain(line.after)) for line in lines], [
        (plain(entry.before), plain(entry.after)) for entry in entries
    ]


# --- what is refused, and why


@pytest.mark.parametrize(
    ("head", "cell", "said"),
    [
        ("kind", "hobby", "“hobby” is not one of: research (Research), product (Product)."),
        ("stage", "Start", "“Start” is not one of: exploration (Exploration)"),
        ("area", "speech", "There is no research area “speech”; there are: vision."),
        ("breakthrough", "11", "11 is not a whole number from 0 to 10."),
        ("breakthrough", "a lot", "“a lot” is no whole number."),
        ("milestones", "03/04/2026 Ready", "“03/04/2026” is no day that can be meant in one way only"),
        ("milestones", "2026-02-30 Ready", "There is no day 2026-02-30."),
        ("milestones", "2026-03-01", "A milestone needs a name."),
        ("milestones", "2026-03-01 A\n2026-03-02 a", "“a” is listed twice."),
        ("milestones", "2026-03-01 A met 2999-01-01", "2999-01-01 has not come yet."),
        ("h100 target", "3", "Give min, target and max, or none of the three; min, max is empty."),
        ("h100 max", "-3", "“-3” is no whole number."),
        ("goal", "a\x07b", "At place 2 stands the control character U+0007, which is not allowed."),
        ("goal", "a\x00b", "At place 2 stands the control character U+0000, which is not allowed."),
        ("goal", "x" * 20_001, "20001 characters; at most 20000 are allowed."),
        ("goal", "x" * 40_000, "40000 characters; at most 32767 are allowed."),
        ("name", "x" * 201, "201 characters; at most 200 are allowed."),
        ("lead", "nobody", "Nobody has the user name “nobody”."),
        ("lead", "bert", "Only an admin registers projects for others"),
        ("lead", "gone", "The account of"),
        ("id", "999999", "There is no project 999999."),
        ("id", "1e3", "There is no project 1e3."),
        ("datasets", "\n".join("d" * 3 + str(n) for n in range(101)), "101 rows; at most 100 are allowed."),
    ],
)
def test_a_refusal_names_column_value_and_what_is_allowed(owner: Person, head: str, cell: str, said: str) -> None:
    people.person("bert")
    people.deactivated("gone")
    made = checked(owner, a_file([cell, "fine"], ["", "Other"], head=f"{head},{'goal' if head != 'goal' else 'name'}"))
    ((column, why),) = faults(made)[2]
    assert (made.state, made.refused) == ("checked", 1)
    assert column.split(" ")[0] == head.split(" ")[0]
    assert said in why
    with pytest.raises(Conflict, match="1 rows are refused"):
        imports.import_apply(actor=owner, import_id=made.pk)
    assert not Project.objects.exists()


def test_three_gpus_must_not_fall(owner: Person) -> None:
    made = checked(owner, a_file([4, 2, 1], head="h100 min,h100 target,h100 max"))
    assert faults(made)[2] == [
        ("h100 target", "At least 4, target 2, at most 1: none may be less than the one before it.")
    ]


def test_names_are_taken_by_open_projects_and_by_earlier_rows(owner: Person) -> None:
    factories.draft_project(name="Taken")
    closed = factories.draft_project(lead=owner, name="Free again")
    services.project_close(actor=owner, project_id=closed.pk, reason="Over")
    made = checked(owner, a_file(["TAKEN"], ["Free again"], ["New"], ["  new "], [""], [" "], head="name,goal"))
    assert [text for (_column, text) in faults(made)[2]] == [
        "A project named “TAKEN” exists already. Choose another name."
    ]
    assert faults(made)[5] == [("name", "Row 4 has this already.")]
    assert set(faults(made)) == {2, 5}
    assert (made.rows_total, made.new) == (4, 2)


def test_the_same_project_twice_is_refused_once(owner: Person) -> None:
    project = factories.draft_project(lead=owner)
    made = checked(owner, a_file([project.pk, "A"], [project.pk, "B"], head="id,goal"))
    assert faults(made) == {3: [("id", "Row 2 has this already.")]}


def test_what_one_may_not_see_is_said_not_to_exist(owner: Person) -> None:
    foreign = factories.active_project()
    made = checked(owner, a_file([foreign.pk, "A"], [foreign.pk + 1000, "B"], head="id,goal"))
    texts = [text for ((_column, text),) in faults(made).values()]
    assert texts[0].replace(str(foreign.pk), "N") == texts[1].replace(str(foreign.pk + 1000), "N")


def test_rights_are_those_of_an_edit_by_hand(owner: Person) -> None:
    led, joined = factories.active_project(lead=owner), factories.active_project(researchers=(owner,))
    submitted, closed = factories.submitted_project(lead=owner), factories.draft_project(lead=owner)
    services.project_close(actor=owner, project_id=closed.pk, reason="Over")
    rows = [[led.pk, "x", "internal"], [joined.pk, "x", ""], [submitted.pk, "x", ""], [closed.pk, "x", ""]]
    rows += [[led.pk, "x", "open"]]
    made = checked(owner, a_file(*rows[:4], head="id,goal,data class"))
    said = {line: texts[0][1] for line, texts in faults(made).items()}
    assert set(said) == {3, 4, 5}
    assert "This needs the role" in said[3]
    assert "Nothing can be changed while the project is submitted." in said[4]
    assert "closed" in said[5]
    again = checked(owner, a_file(rows[4], head="id,goal,data class"))
    assert "Platform admin" in faults(again)[2][0][1]
    admin = people.admin()
    by_admin = checked(admin, a_file([led.pk, "open"], head="id,data class"))
    assert (by_admin.changed, by_admin.refused) == (1, 0)


def test_a_row_that_changes_nothing_takes_no_right(owner: Person) -> None:
    submitted = factories.submitted_project(lead=owner, goal="As it is")
    made = checked(owner, a_file([submitted.pk, "As it is"], head="id,goal"))
    assert made.unchanged == 1


def test_an_admin_names_another_lead(owner: Person) -> None:
    admin = people.person("boss", Role.ADMIN)
    made = applied(admin, a_file(["Led by Ada", "ADA"], ["Own", ""], head="name,lead"))
    assert made.state == "applied", made.faults
    led, own = Project.objects.get(name="Led by Ada"), Project.objects.get(name="Own")
    assert (led.created_by, policies.role_on(owner, led), policies.role_on(admin, led)) == (admin, "lead", None)
    assert policies.role_on(admin, own) == "lead"
    team = Membership.objects.get(project=led)
    assert (team.person, team.added_by) == (owner, admin)


def test_the_team_of_a_project_is_not_changed(owner: Person) -> None:
    people.person("bert")
    project = factories.draft_project(lead=owner)
    assert checked(owner, a_file([project.pk, "Ada"], head="id,lead")).unchanged == 1
    made = checked(owner, a_file([project.pk, "bert"], head="id,lead"))
    assert "does not change the team" in faults(made)[2][0][1]


# --- columns


def test_what_a_missing_column_means_and_what_an_empty_cell(owner: Person) -> None:
    project = factories.draft_project(lead=owner, goal="Stays", stage="training", kind="product")
    applied(owner, a_file([project.pk, "", ""], head="id,stage,kind"))
    project.refresh_from_db()
    assert (project.goal, project.stage, project.kind) == ("Stays", "", "product")


def test_models_without_a_column_keep_their_gpus(owner: Person) -> None:
    factories.gpu_model("a100")
    project = factories.draft_project(lead=owner)
    applied(owner, a_file([project.pk, 1, 1, 1], head="id,a100 min,a100 target,a100 max"))
    assert set(project.expected_compute.values_list("gpu_model__name", "max")) == {("h100", 4), ("a100", 1)}
    applied(owner, a_file([project.pk, "", "", ""], head="id,h100 min,h100 target,h100 max"))
    assert set(project.expected_compute.values_list("gpu_model__name", "max")) == {("a100", 1)}


def test_heads_are_known_by_key_and_label_in_both_languages(owner: Person) -> None:
    head = " NAME ,目标,Research  Area,数据级别,Breakthrough potential,ｈ100 Min,H100 目标,h100_MAX,里程碑,阶段"
    row = ["多模态", "降低成本", "VISION", "受限", "７", 1, 2, 3, "2030年5月1日 首次结果", "训练"]
    made = applied(owner, a_file(row, head=head))
    assert made.state == "applied", faults(made)
    project = Project.objects.get()
    assert (project.goal, project.stage, project.data_class) == ("降低成本", "training", "restricted")
    assert project.milestones.get().name == "首次结果"


def test_unknown_columns_are_named_and_ignored_only_when_told_so(owner: Person) -> None:
    content = a_file(["A", "x", "y"], head="name,Colour,")
    made = checked(owner, content)
    assert (made.state, made.unknown_columns) == ("failed", ["Colour", "C"])
    assert "“Colour”, “C”" in made.faults[0]
    imports.import_check_again(actor=owner, import_id=made.pk, ignores_unknown=True)
    work.check(made.pk)
    made.refresh_from_db()
    assert (made.state, made.new, made.unknown_columns) == ("checked", 1, ["Colour", "C"])


def test_a_column_twice_is_refused(owner: Person) -> None:
    made = checked(owner, a_file(["A", "B"], head="name,Name"))
    assert made.faults == ["Each column may be there once; twice are: Name."]
