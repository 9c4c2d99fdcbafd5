"""Two imports at the same moment, on two connections: each is written whole, or says what happened meanwhile."""

import threading

import pytest
from django.db import connection

from accounts.models import Person
from accounts.tests import factories as people
from kernel.errors import LockTimeout
from projects.imports import services, work
from projects.models import Project, ProjectChange, ProjectImport
from projects.tests import factories
from projects.tests import import_factories as imports

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_S = 60


def apply_both(*made: ProjectImport) -> list[str]:
    """The states in which imports end that are applied by two workers at once."""
    barrier = threading.Barrier(len(made))

    def run(row: ProjectImport) -> None:
        try:
            barrier.wait(PATIENCE_S)
            until_done(row)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(row,)) for row in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    return sorted(ProjectImport.objects.filter(pk__in=[row.pk for row in made]).values_list("state", flat=True))


def until_done(row: ProjectImport) -> None:
    """As the task does: a lock that could not be had in time is asked for again."""
    for _ in range(20):
        try:
            work.apply(row.pk)
        except LockTimeout:
            continue
        return


def ready(owner: Person, content: bytes) -> ProjectImport:
    made = imports.checked(owner, content)
    return services.import_apply(actor=owner, import_id=made.pk)


def test_of_two_imports_of_the_same_names_one_is_written_whole() -> None:
    first, second = people.person(), people.person()
    names = [f"Name {n}" for n in range(50)]
    text = "name\n" + "\n".join(names) + "\n"
    made = ready(first, text.encode()), ready(second, text.upper().replace("NAME\n", "name\n", 1).encode())
    assert apply_both(*made) == ["applied", "failed"]
    assert Project.objects.count() == len(names)
    assert len(set(Project.objects.values_list("created_by", flat=True))) == 1
    failed = ProjectImport.objects.get(state="failed")
    assert failed.refused == len(names)
    assert "50 rows come out otherwise" in failed.faults[0]


def test_of_two_changes_of_the_same_projects_one_is_written_whole() -> None:
    owner = people.person()
    projects = [factories.draft_project(lead=owner) for _ in range(20)]
    files = ["id,goal\n" + "".join(f"{row.pk},{goal}\n" for row in projects) for goal in ("One", "Other")]
    made = [ready(owner, text.encode()) for text in files]
    assert apply_both(*made) == ["applied", "failed"]
    assert len(set(Project.objects.values_list("goal", flat=True))) == 1
    assert ProjectChange.objects.filter(field="goal").count() == len(projects)


def test_one_import_applied_by_two_workers_is_written_once() -> None:
    made = ready(people.person(), imports.GOOD)
    assert apply_both(made, made) == ["applied"]
    assert Project.objects.count() == 1
