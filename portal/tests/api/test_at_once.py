"""Two calls at the same moment, on two connections: one act, and the second is told so."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.models import Person
from accounts.tests import factories as people
from kernel.models import AuditEntry, IdempotencyKey
from projects.models import Project
from projects.tests import factories as registry
from quotas.models import Claim
from scheduling.models import Job
from scheduling.tests import factories as cluster

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_S = 30


def both(post: Callable[[int], Any]) -> list[Any]:
    """What two threads are answered that begin together; each has its own connection to the database."""
    barrier, answers = threading.Barrier(2), {}

    def call(which: int) -> None:
        try:
            barrier.wait(PATIENCE_S)
            answers[which] = post(which)
        finally:
            connection.close()

    threads = [threading.Thread(target=call, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    return [answers[0], answers[1]]


def post_both(address: str, body: dict[str, Any], *actors: Person, **headers: str) -> list[Any]:
    """The same call twice at once, by one person or by two."""
    clients = [people.api_client(actors[index % len(actors)]) for index in (0, 1)]
    return both(lambda which: clients[which].post(address, body, headers=headers))


def one_is_the_replay(answers: list[Any]) -> None:
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert sorted(answer.headers.get("Idempotent-Replay", "") for answer in answers) == ["", "true"]


def test_a_project_with_one_key_is_registered_once() -> None:
    answers = post_both("/api/v1/projects/", {"name": "Once"}, people.person(), **{"Idempotency-Key": "k1"})
    one_is_the_replay(answers)
    assert Project.objects.count() == 1
    assert IdempotencyKey.objects.count() == 1
    assert AuditEntry.objects.filter(action="project.created").count() == 1


def test_a_job_with_one_key_is_queued_once() -> None:
    cluster.node()
    project = cluster.project()
    body = {"project": project.pk, "command": ["true"]}
    answers = post_both("/api/v1/jobs/", body, project.created_by, **{"Idempotency-Key": "k1"})
    one_is_the_replay(answers)
    assert Job.objects.count() == 1


def test_without_a_key_two_jobs_are_two() -> None:
    cluster.node()
    project = cluster.project()
    answers = post_both("/api/v1/jobs/", {"project": project.pk, "command": ["true"]}, project.created_by)
    assert [answer.status_code for answer in answers] == [201, 201]
    assert Job.objects.count() == 2


def test_the_same_key_of_two_people_is_two_acts() -> None:
    answers = post_both("/api/v1/projects/", {}, people.person(), people.person(), **{"Idempotency-Key": "k1"})
    assert [answer.status_code for answer in answers] == [201, 201]
    assert Project.objects.count() == 2


def test_of_two_approvals_one_decides() -> None:
    project = registry.submitted_project()
    answers = post_both(f"/api/v1/projects/{project.pk}/approve/", {}, people.admin(), people.admin())
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert AuditEntry.objects.filter(action="project.approved").count() == 1


def test_of_an_approval_and_a_rejection_one_decides() -> None:
    project = registry.submitted_project()
    clients = [people.api_client(people.admin()), people.api_client(people.director())]
    acts = ("approve", "reject")
    answers = both(lambda which: clients[which].post(f"/api/v1/projects/{project.pk}/{acts[which]}/", {"reason": "x"}))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    project.refresh_from_db()
    decided = next(answer for answer in answers if answer.status_code == 200)
    assert decided.json()["state"] == project.state


def test_two_grants_at_once_never_promise_more_than_there_is() -> None:
    cluster.node(gpus=8)
    first, second = registry.active_project(), registry.active_project()
    admin = people.api_client(people.admin())
    other = people.api_client(people.admin())
    bodies = [{"project": row.pk, "gpu_model": "h100", "guaranteed": 5} for row in (first, second)]
    answers = both(lambda which: (admin, other)[which].post("/api/v1/quotas/", bodies[which]))
    assert sorted(answer.status_code for answer in answers) == [201, 422]
    assert Claim.objects.count() == 1


def test_a_failed_call_leaves_its_key_free() -> None:
    lead = people.person()
    client = people.api_client(lead)
    headers = {"Idempotency-Key": "k1"}
    assert client.post("/api/v1/projects/", {"stage": "nowhere"}, headers=headers).status_code == 422
    assert client.post("/api/v1/projects/", {"name": "Now"}, headers=headers).status_code == 201
    assert client.post("/api/v1/projects/", {"name": "Other"}, headers=headers).status_code == 422
    assert Project.objects.count() == 1
