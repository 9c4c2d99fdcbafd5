"""The course of an import: whole or not at all, the same again after a crash, its owner's alone, undone."""

import pytest

from accounts.models import Person
from accounts.tests import factories as people
from kernel import clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.models import AuditEntry, OutboxEvent, StateChange
from projects import services
from projects.imports import services as imports
from projects.imports import work
from projects.models import ImportRow, Project, ProjectImport
from projects.services.course import project_close_untouched
from projects.states import ImportState
from projects.tests import factories
from projects.tests.sheets import a_file, applied, checked, importer

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> Person:
    return importer()


def test_refused_rows_are_left_out_only_when_told_so(owner: Person) -> None:
    content = a_file(["Good", "", "training"], ["Bad", "", "nowhere"])
    made = applied(owner, content, leaves_out_refused=True)
    assert (made.state, made.new, made.refused) == ("applied", 1, 1)
    assert Project.objects.get().name == "Good"
    entry = AuditEntry.objects.get(action="projects.imported")
    assert entry.after == {"new": 1, "changed": 0, "left_out": 1, "file": "projects.csv"}
    assert ImportRow.objects.get(of=made, kind="new").project == Project.objects.get()


def test_nothing_is_written_when_a_name_was_taken_since(owner: Person) -> None:
    made = checked(owner, a_file(["One"], ["Two"], head="name,goal"))
    imports.import_apply(actor=owner, import_id=made.pk)
    factories.draft_project(name="two")
    work.apply(made.pk)
    made.refresh_from_db()
    assert (made.state, made.new, made.refused) == ("failed", 1, 1)
    assert "1 rows come out otherwise" in made.faults[0]
    assert [row.line for row in made.rows.filter(is_overtaken=True)] == [3]
    assert not Project.objects.filter(name="One").exists()
    imports.import_check_again(actor=owner, import_id=made.pk)
    work.check(made.pk)
    made.refresh_from_db()
    assert made.state == "checked"


def test_nothing_is_written_when_a_project_was_changed_since(owner: Person) -> None:
    first, second = factories.draft_project(lead=owner), factories.draft_project(lead=owner)
    made = checked(owner, a_file([first.pk, "A"], [second.pk, "B"], head="id,goal"))
    imports.import_apply(actor=owner, import_id=made.pk)
    services.project_edit(actor=owner, project_id=second.pk, changes={"stage": "training"})
    work.apply(made.pk)
    made.refresh_from_db()
    first.refresh_from_db()
    assert made.state == "failed"
    assert first.goal != "A"
    assert [row.line for row in made.rows.filter(is_overtaken=True)] == [3]


def test_rights_are_judged_again_when_it_is_applied(owner: Person) -> None:
    project = factories.draft_project(lead=owner)
    other = people.person("second")
    services.member_add(actor=owner, project_id=project.pk, person="second", role="lead")
    made = checked(owner, a_file([project.pk, "A"], head="id,goal"))
    imports.import_apply(actor=owner, import_id=made.pk)
    services.member_remove(actor=other, project_id=project.pk, person_id=owner.pk)
    work.apply(made.pk)
    made.refresh_from_db()
    assert made.state == "failed"
    assert made.rows.get().faults[0][2].startswith("There is no project")


def test_whoever_was_deactivated_imports_nothing(owner: Person) -> None:
    made = checked(owner, a_file(["One"], head="name"))
    imports.import_apply(actor=owner, import_id=made.pk)
    Person.objects.filter(pk=owner.pk).update(is_active=False)
    work.apply(made.pk)
    made.refresh_from_db()
    assert (made.state, made.faults) == ("failed", ["This account is deactivated."])
    assert not Project.objects.exists()


def test_a_lost_worker_is_replaced_and_its_late_answer_is_not_taken(
    owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = imports.import_upload(actor=owner, file_name="a.csv", content=a_file(["One"], head="name"))
    late = work._start(made.pk, (ImportState.UPLOADED,), "start_check")
    assert late is not None
    sent: list[tuple[str, int]] = []
    monkeypatch.setattr(work, "send", lambda what, pk: sent.append((what, pk)))
    work.resume_stuck(clock.now())
    assert sent == []
    work.resume_stuck(clock.now() + 2 * work.STUCK_AFTER)
    assert sent == [("check", made.pk)]
    work.check(made.pk)
    made.refresh_from_db()
    finished = StateChange.objects.filter(machine="project import", event="finish_check").count()
    work._check(late)
    assert (made.state, made.run, finished) == ("checked", 2, 1)
    assert StateChange.objects.filter(machine="project import", event="finish_check").count() == 1


def test_starting_the_work_twice_does_it_once(owner: Person) -> None:
    made = applied(owner, a_file(["One"], head="name"))
    work.apply(made.pk)
    work.check(made.pk)
    assert Project.objects.count() == 1
    assert AuditEntry.objects.filter(action="projects.imported").count() == 1


def test_what_never_ends_is_given_up(owner: Person) -> None:
    made = imports.import_upload(actor=owner, file_name="a.csv", content=a_file(["One"], head="name"))
    ProjectImport.objects.update(run=work.MOST_RUNS)
    work.check(made.pk)
    made.refresh_from_db()
    assert made.state == "failed"
    assert "did not end" in made.faults[0]


def test_undo_closes_what_nobody_touched(owner: Person) -> None:
    made = applied(owner, a_file(["One"], ["Two"], ["Three"], head="name"))
    two, three = Project.objects.get(name="Two"), Project.objects.get(name="Three")
    services.project_edit(actor=owner, project_id=two.pk, changes={"goal": "Mine now"})
    people.person("bert")
    services.member_add(actor=owner, project_id=three.pk, person="bert", role="researcher")
    imports.import_undo(actor=owner, import_id=made.pk)
    work.undo(made.pk)
    made.refresh_from_db()
    assert made.state == "undone"
    assert dict(Project.objects.values_list("name", "state")) == {"One": "closed", "Two": "draft", "Three": "draft"}
    assert made.faults == ["2 projects were left as they are: somebody worked on them since."]
    step = StateChange.objects.get(subject_type="projects.project", event="close")
    assert step.reason == "Imported from projects.csv and discarded again."
    assert OutboxEvent.objects.filter(topic="project.closed").count() == 1


def test_undoing_goes_on_after_a_lost_worker(owner: Person) -> None:
    made = applied(owner, a_file(["One"], ["Two"], head="name"))
    imports.import_undo(actor=owner, import_id=made.pk)
    one = Project.objects.get(name="One")
    assert project_close_untouched(actor=owner, project_id=one.pk, reason="by the worker that was lost")
    work.undo(made.pk)
    made.refresh_from_db()
    assert (made.state, made.faults) == ("undone", [])
    assert set(Project.objects.values_list("state", flat=True)) == {"closed"}


def test_discarding_deletes_the_file(owner: Person) -> None:
    made = checked(owner, a_file(["One"], head="name"))
    imports.import_discard(actor=owner, import_id=made.pk)
    made.refresh_from_db()
    assert (made.state, made.content) == ("discarded", None)


def test_a_file_is_forgotten_after_a_month(owner: Person) -> None:
    done, left = applied(owner, a_file(["One"], head="name")), checked(owner, a_file(["Two"], head="name"))
    assert work.forget_files(clock.now()) == 0
    assert work.forget_files(clock.now() + work.KEPT + work.STUCK_AFTER) == 2
    for row in (done, left):
        row.refresh_from_db()
    assert (done.state, done.content, left.state, left.content) == ("applied", None, "discarded", None)
    assert done.rows.count() == 1


def test_an_import_is_its_owners_alone(owner: Person) -> None:
    made = checked(owner, a_file(["One"], head="name"))
    for act in (imports.import_apply, imports.import_discard, imports.import_undo, imports.import_check_again):
        with pytest.raises(NotFound):
            act(actor=people.admin(), import_id=made.pk)


@pytest.mark.parametrize(("content", "said"), [(b"", "The file is empty"), (b"x" * (8 * 2**20 + 1), "at most 8 MiB")])
def test_a_file_of_no_size_or_of_too_much_is_refused_at_once(owner: Person, content: bytes, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        imports.import_upload(actor=owner, file_name="a.csv", content=content)


def test_nobody_heaps_up_imports(owner: Person) -> None:
    for _ in range(imports.MOST_OPEN):
        imports.import_upload(actor=owner, file_name="a.csv", content=b"name\nx")
    with pytest.raises(Conflict, match="20 imports are open"):
        imports.import_upload(actor=owner, file_name="a.csv", content=b"name\nx")
