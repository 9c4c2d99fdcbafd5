"""Jobs through HTTP: what is written is read again, what is refused says why."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import Scope
from accounts.tests import factories as people
from inventory.models import GpuModel
from projects.models import Project
from projects.tests import factories as registry
from scheduling.models import Job
from scheduling.tests import factories

pytestmark = pytest.mark.django_db
JOBS = "/api/v1/jobs/"


@pytest.fixture
def node() -> factories.FakeNode:
    return factories.node("alpha")


@pytest.fixture
def project(node: factories.FakeNode) -> Project:
    return factories.project()


@pytest.fixture
def lead(project: Project) -> APIClient:
    return people.api_client(project.created_by)


def body(project: Project, **changes: Any) -> dict[str, Any]:
    return {"project": project.pk, "name": "train", "command": ["python", "train.py"], "gpus": 1, **changes}


def test_what_is_submitted_is_what_is_read(project: Project, lead: APIClient) -> None:
    asked = {
        "gpus": 4,
        "nodes_exact": 2,
        "preemptible": True,
        "priority": 3,
        "max_runtime_s": 7200,
        "grace_s": 60,
        "max_retries": 2,
        "cpus": 8,
        "memory_bytes": 2**34,
        "env": {"LOG_LEVEL": "INFO"},
        "datasets": [{"path": "/data/a", "version": "3"}, "/data/b"],
        "checkpoint_dir": "ckpt",
        "checkpoint_interval_s": 1800,
        "signal": "SIGUSR1",
    }
    made = lead.post(JOBS, body(project, **asked))
    assert made.status_code == 201, made.content
    read = lead.get(f"{JOBS}{made.data['id']}").json()
    assert {key: read[key] for key in asked if key != "datasets"} == {k: v for k, v in asked.items() if k != "datasets"}
    assert read["datasets"] == [{"path": "/data/a", "version": "3"}, {"path": "/data/b"}]
    assert (read["project"], read["name"], read["command"]) == (project.pk, "train", ["python", "train.py"])
    assert (read["owner"], read["state"], read["attempts"]) == (project.created_by.username, "queued", [])
    assert {item["level"] for item in read["launch_check"]} <= {"pass", "warning"}
    assert "cancel" in read["can"]


def test_a_job_has_sensible_defaults(project: Project, lead: APIClient) -> None:
    made = lead.post(JOBS, {"project": project.pk, "command": ["/usr/bin/python3", "-c", "1"]})
    assert made.status_code == 201, made.content
    read = made.json()
    assert (read["name"], read["gpus"], read["gpu_models"], read["preemptible"]) == ("python3", 1, [], False)
    assert (read["max_retries"], read["signal"], read["nodes_exact"]) == (0, "SIGTERM", None)


def test_a_part_of_a_gpu_and_a_model_by_name_or_id(project: Project, lead: APIClient) -> None:
    model = GpuModel.objects.get()
    by_name = lead.post(JOBS, body(project, gpus=0.25, gpu_model=model.name)).json()
    by_id = lead.post(JOBS, body(project, gpus="0.5", gpu_models=[model.pk])).json()
    assert (by_name["gpus"], by_name["gpu_models"]) == (0.25, [model.name])
    assert (by_id["gpus"], by_id["gpu_models"]) == (0.5, [model.name])


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("gpus", "many", "“many” is not a number"),
        ("gpus", 0.0005, "thousandths"),
        ("gpus", -1, "-1 is not between"),
        ("gpus", 10**9, "1000000000 is not between"),
        ("gpus", "Infinity", "is not a number"),
        ("gpus", 1.5, "whole GPUs"),
        ("gpus", True, "“True” is not a number"),
        ("gpu_models", ["h999"], "h999"),
        ("gpu_models", "h100", "list"),
        ("nodes_exact", 3, "divided evenly"),
        ("nodes_exact", 0, "0 is not between"),
        ("priority", 5000, "5000 is not between"),
        ("priority", "high", "“high” is not a whole number"),
        ("max_runtime_s", 0, "0 is not between"),
        ("max_runtime_s", 1.5, "“1.5” is not a whole number"),
        ("max_retries", 10**30, "too large"),
        ("preemptible", "maybe", "“maybe” is not true or false"),
        ("signal", "SIGKILL", "SIGTERM"),
        ("command", "python train.py", "“python train.py”"),
        ("command", [], "command"),
        ("command", [1], "“1” is not a text"),
        ("env", {"1A": "x"}, "1A"),
        ("env", {"A": 1}, "“1” is not a text"),
        ("env", ["A=1"], "Names and their values"),
        ("datasets", [{"path": "data"}], "data"),
        ("datasets", [7], "“7”"),
        ("name", "x" * 201, "201"),
        ("project", "alpha", "“alpha” is not a whole number"),
    ],
)
def test_a_refusal_names_the_field_and_the_value(
    project: Project, lead: APIClient, field: str, value: Any, said: str
) -> None:
    gpus = {"gpus": 2} if field == "nodes_exact" else {}
    answer = lead.post(JOBS, {**body(project), **gpus, field: value})
    assert answer.status_code == 422, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    texts = " ".join(
        text for name, texts in answer.json()["errors"].items() if name.startswith(field) for text in texts
    )
    assert said in texts
    assert not Job.objects.exists()


def test_a_missing_command_and_project_are_named(lead: APIClient) -> None:
    answer = lead.post(JOBS, {"name": "x"})
    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {"project", "command"}


def test_the_launch_check_blocks_with_its_items(project: Project, lead: APIClient) -> None:
    answer = lead.post(JOBS, body(project, gpus=64))
    assert answer.status_code == 422
    assert "64" in answer.json()["errors"]["gpus"][0]
    assert any(item["level"] == "block" for item in answer.json()["launch_check"])


def test_a_dry_run_says_the_same_and_writes_nothing(project: Project, lead: APIClient) -> None:
    fine = lead.post(f"{JOBS}launch-check", body(project)).json()
    bad = lead.post(f"{JOBS}launch-check", body(project, gpus=64)).json()
    assert (fine["can_submit"], bad["can_submit"]) == (True, False)
    assert {item["code"] for item in fine["items"]} >= {"command", "project", "quota", "max_runtime"}
    assert not Job.objects.exists()
    assert people.api_client(people.person()).post(f"{JOBS}launch-check", body(project)).status_code == 404


def test_the_same_key_submits_once(project: Project, lead: APIClient) -> None:
    first = lead.post(JOBS, body(project), headers={"Idempotency-Key": "k1"})
    again = lead.post(JOBS, body(project), headers={"Idempotency-Key": "k1"})
    other = lead.post(JOBS, body(project, name="other"), headers={"Idempotency-Key": "k1"})
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
    assert first.json()["id"] == again.json()["id"]
    assert Job.objects.count() == 1


def test_filters_narrow_the_list_and_refuse_what_cannot_be_meant(project: Project, lead: APIClient) -> None:
    other = factories.project(lead=project.created_by)
    researcher = people.person()
    registry.enrol(project, researcher)
    mine = factories.job(project, name="alpha-run")
    theirs = factories.job(project, researcher, name="beta")
    elsewhere = factories.job(other, name="gamma")

    def ids(query: str) -> list[int]:
        answer = lead.get(f"{JOBS}?{query}")
        assert answer.status_code == 200, answer.content
        assert answer.json()["count"] == len(answer.json()["results"])
        return [row["id"] for row in answer.json()["results"]]

    assert ids("") == [elsewhere.pk, theirs.pk, mine.pk]
    assert ids(f"project={project.pk}") == [theirs.pk, mine.pk]
    assert ids("owner=me") == [elsewhere.pk, mine.pk]
    assert ids(f"owner={researcher.username}") == [theirs.pk]
    assert ids("q=ALPHA") == [mine.pk]
    assert ids(f"q={theirs.pk}") == [theirs.pk]
    assert ids("state=queued,running&ordering=name") == [mine.pk, theirs.pk, elsewhere.pk]
    assert ids("state=running") == []
    for query, field in (("state=asleep", "state"), ("project=x", "project"), ("ordering=owner__password", "ordering")):
        answer = lead.get(f"{JOBS}?{query}")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


def test_the_list_costs_the_same_for_few_and_many(project: Project, lead: APIClient) -> None:
    factories.job(project)
    lead.get(JOBS)  # The first use of a token is noted.
    with CaptureQueriesContext(connection) as few:
        lead.get(JOBS)
    for _ in range(5):
        factories.job(project)
    with CaptureQueriesContext(connection) as many:
        assert len(lead.get(JOBS).json()["results"]) == 6
    assert len(few) == len(many) <= 12


def test_a_stranger_learns_nothing_and_a_reader_may_not_act(project: Project, lead: APIClient) -> None:
    job = factories.job(project)
    stranger, auditor = people.api_client(people.person()), people.api_client(people.auditor())
    reads = ["", "/log", "/events/"]
    acts = ["/cancel", "/pause", "/resume", "/requeue", "/clone"]
    assert {stranger.get(f"{JOBS}{job.pk}{path}").status_code for path in reads} == {404}
    assert {stranger.post(f"{JOBS}{job.pk}{path}").status_code for path in acts} == {404}
    assert stranger.get(JOBS).json()["count"] == 0
    assert {auditor.get(f"{JOBS}{job.pk}{path}").status_code for path in reads} == {200}
    assert {auditor.post(f"{JOBS}{job.pk}{path}").status_code for path in acts} == {403}
    assert {people.api_client().get(f"{JOBS}{job.pk}{path}").status_code for path in reads} == {401}
    assert stranger.post(JOBS, body(project)).status_code == 404
    job.refresh_from_db()
    assert (job.state, Job.objects.count()) == ("queued", 1)


def test_a_token_for_jobs_is_enough_and_one_for_reading_is_not(project: Project) -> None:
    jobs = people.api_client(project.created_by, Scope.JOBS)
    reading = people.api_client(project.created_by, Scope.READ)
    assert jobs.post(JOBS, body(project)).status_code == 201
    assert reading.post(JOBS, body(project)).status_code == 403
    assert reading.get(JOBS).status_code == 200


def test_acts_change_the_state_and_impossible_ones_are_conflicts(project: Project, lead: APIClient) -> None:
    job = factories.job(project)
    act = f"{JOBS}{job.pk}/"

    def states(*names: str) -> list[tuple[int, str]]:
        answers = [lead.post(act + name, {"reason": "as a test"}) for name in names]
        return [(answer.status_code, answer.json().get("state", "")) for answer in answers]

    assert states("resume") == [(409, "queued")]
    assert states("pause", "resume", "cancel", "requeue") == [
        (200, "paused"),
        (200, "queued"),
        (200, "cancelled"),
        (200, "queued"),
    ]
    problem = lead.post(act + "requeue").json()
    assert (problem["status"], problem["code"]) == (409, "illegal_transition")
    steps = [event["event"] for event in lead.get(act + "events/").json()["results"]]
    assert steps == ["pause", "resume", "cancel", "requeue"]


def test_a_clone_is_a_new_job_with_the_changes(project: Project, lead: APIClient) -> None:
    job = factories.job(project, env={"A": "1"}, max_runtime_s=60)
    clone = lead.post(f"{JOBS}{job.pk}/clone", {"gpus": 2, "name": "again"})
    assert clone.status_code == 201, clone.content
    assert clone.json()["id"] != job.pk
    assert {key: clone.json()[key] for key in ("gpus", "name", "env", "max_runtime_s")} == {
        "gpus": 2,
        "name": "again",
        "env": {"A": "1"},
        "max_runtime_s": 60,
    }
    assert lead.post(f"{JOBS}{job.pk}/clone", {"gpus": 999}).status_code == 422


def test_a_run_is_told_with_its_placement(project: Project, lead: APIClient, node: factories.FakeNode) -> None:
    job = factories.running_job(project, [node], milli_gpus=2000)
    read = lead.get(f"{JOBS}{job.pk}").json()
    (attempt,) = read["attempts"]
    assert (read["state"], attempt["state"], attempt["number"]) == ("running", "running", 1)
    assert attempt["placement"] == {"alpha": 2}
    assert len(attempt["devices"]) == 2
    assert read["started_at"] == attempt["started_at"] is not None


def test_the_log_is_read_by_offset_and_says_when_it_is_whole(
    project: Project, lead: APIClient, node: factories.FakeNode
) -> None:
    job = factories.running_job(project, [node])
    (member,) = factories.members_of(job)
    node.logs[member.pk] = "début\nzwei\n".encode()
    node.send_logs()
    log = f"{JOBS}{job.pk}/log"
    first = lead.get(log)
    assert first.content == "début\nzwei\n".encode()
    assert first["Content-Type"].startswith("text/plain")
    assert (first["X-Next-Offset"], first["X-Log-Complete"]) == ("12", "false")
    assert lead.get(f"{log}?offset=7").content == b"zwei\n"
    assert lead.get(f"{log}?offset=1&limit=2")["X-Next-Offset"] == "3"
    beyond = lead.get(f"{log}?offset=500")
    assert (beyond.content, beyond["X-Next-Offset"]) == (b"", "500")
    assert lead.get(f"{log}?offset=-1").status_code == 422
    assert lead.get(f"{log}?limit=99999999").json()["errors"].keys() == {"limit"}
    node.end(member.pk)
    node.sync()
    assert lead.get(log)["X-Log-Complete"] == "true"
    end = lead.get(f"{JOBS}{job.pk}").json()
    assert (end["state"], end["attempts"][0]["cause"], end["attempts"][0]["exit_code"]) == ("succeeded", "finished", 0)
    events = lead.get(f"{JOBS}{job.pk}/events/").json()["results"]
    assert [row["to_state"] for row in events if row["subject"] == "job"] == ["starting", "running", "succeeded"]
    assert [row["at"] for row in events] == sorted(row["at"] for row in events)
