"""The pages of jobs: what they show, what they refuse, what they do."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.tests import factories as people
from kernel import clock
from projects.models import Project
from projects.tests import factories as registry
from scheduling.models import Job
from scheduling.selectors.progress import queue_place
from scheduling.services import members_lose_sight
from scheduling.tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def node() -> factories.FakeNode:
    return factories.node("alpha")


@pytest.fixture
def project(node: factories.FakeNode) -> Project:
    return factories.project()


@pytest.fixture
def lead(project: Project) -> Client:
    return people.browser(project.created_by)


def typed(project: Project, **changes: object) -> dict[str, object]:
    return {
        "project": project.pk,
        "name": "train",
        "command": "python train.py",
        "gpus": "1",
        "max_runtime_h": "24",
        "max_retries": "2",
        "signal": "SIGTERM",
        "once": "a" * 32,
        **changes,
    }


def test_the_form_submits_what_was_typed(project: Project, lead: Client) -> None:
    typed_in = typed(
        project,
        command="set -e\npython train.py",
        gpus="0.5",
        max_runtime_h="1.5",
        checkpoint_dir="ckpt",
        checkpoint_interval_m="30",
        env="LOG_LEVEL=INFO\nA=b=c",
        datasets="/data/a v3\n/data/b",
        memory_gib="2",
    )
    answer = lead.post("/jobs/new/", typed_in)
    job = Job.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/jobs/{job.pk}")
    assert (job.command, job.milli_gpus) == (["bash", "-lc", "set -e\npython train.py"], 500)
    assert (job.max_runtime_s, job.checkpoint_interval_s, job.memory_bytes) == (5400, 1800, 2**31)
    assert job.env == {"LOG_LEVEL": "INFO", "A": "b=c"}
    assert job.datasets == [{"path": "/data/a", "version": "v3"}, {"path": "/data/b"}]
    assert (job.owner, job.max_retries) == (project.created_by, 2)


def test_the_same_form_twice_makes_one_job(project: Project, lead: Client) -> None:
    answers = [lead.post("/jobs/new/", typed(project)) for _ in range(2)]
    assert {answer["Location"] for answer in answers} == {f"/jobs/{Job.objects.get().pk}"}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("command", 'echo "x', "a quote is not closed"),
        ("gpus", "64", "64"),
        ("env", "nonsense", "“nonsense” is not NAME=value"),
        ("nodes_exact", "3", "divided evenly"),
        ("datasets", "data", "“data” is not an absolute path"),
        ("max_runtime_h", "999999", "8784"),
        ("checkpoint_interval_m", "999999", "527040"),
        ("grace_m", "1441", "1440"),
    ],
)
def test_what_cannot_be_taken_is_said_at_its_field(
    project: Project, lead: Client, field: str, value: str, said: str
) -> None:
    gpus = {"gpus": "2"} if field == "nodes_exact" else {}
    answer = lead.post("/jobs/new/", typed(project, **gpus, **{field: value}))
    assert answer.status_code == 422
    assert said in " ".join(answer.context["form"].errors[field])
    assert said in answer.content.decode().replace("&quot;", '"')
    assert not Job.objects.exists()


def test_the_check_answers_while_one_types(project: Project, lead: Client) -> None:
    fine = lead.post("/jobs/new/check/", typed(project, command="a && b")).content.decode()
    assert "bash" in fine
    assert "Warning" in fine
    assert "cannot be submitted" not in fine
    assert "cannot be submitted" in lead.post("/jobs/new/check/", typed(project, gpus="64")).content.decode()
    assert "Command" in lead.post("/jobs/new/check/", typed(project, command="")).content.decode()
    assert not Job.objects.exists()


def test_a_clone_starts_from_the_other_job(project: Project, lead: Client) -> None:
    job = factories.job(project, max_runtime_s=5400, env={"A": "1"}, command=("bash", "-lc", "a && b"))
    page = lead.get(f"/jobs/new/?clone={job.pk}").content.decode()
    assert 'value="1.5"' in page
    assert "a &amp;&amp; b" in page
    assert people.browser(people.person()).get(f"/jobs/new/?clone={job.pk}").status_code == 404
    for typed in ("²", "x", "9" * 30):
        assert lead.get("/jobs/new/", {"clone": typed}).status_code == 404


def test_without_a_project_the_form_says_what_to_do() -> None:
    page = people.browser(people.person()).get("/jobs/new/").content.decode()
    assert "No project to run it in" in page
    assert "Register a project" in page


def test_the_list_shows_own_jobs_and_all_on_request(project: Project, lead: Client) -> None:
    researcher = people.person()
    registry.enrol(project, researcher)
    factories.job(project, name="mine")
    factories.job(project, researcher, name="theirs")
    own, every = lead.get("/jobs/").content.decode(), lead.get("/jobs?owner=all").content.decode()
    assert ("mine" in own, "theirs" in own) == (True, False)
    assert ("mine" in every, "theirs" in every) == (True, True)
    assert "theirs" not in people.browser(people.person()).get("/jobs/?owner=all").content.decode()
    assert "No job fits these filters" in lead.get("/jobs/?state=failed").content.decode()
    assert lead.get("/jobs/?state=asleep").status_code == 422
    assert lead.get("/jobs/?sort=owner__password,-gpus").status_code == 200


def test_the_list_costs_the_same_for_few_and_many(project: Project, lead: Client) -> None:
    factories.job(project)
    lead.get("/jobs/")  # what is kept for a while, such as the counts of the rail, is asked for once
    with CaptureQueriesContext(connection) as few:
        lead.get("/jobs/")
    for _ in range(5):
        factories.job(project)
    with CaptureQueriesContext(connection) as many:
        lead.get("/jobs/")
    assert len(few) == len(many) <= 12


def test_a_waiting_job_says_why_and_its_parts_are_pages(project: Project, lead: Client) -> None:
    factories.job(project, milli_gpus=4000)
    factories.decide()
    job = factories.job(project, milli_gpus=4000, env={"A": "<script>alert(1)</script>"})
    factories.decide()
    job.refresh_from_db()
    assert job.reason
    page = lead.get(f"/jobs/{job.pk}").content.decode()
    assert job.reason.split(":")[0] in page
    assert "Waiting" in page
    for part in ("check", "request", "history"):
        shown = lead.get(f"/jobs/{job.pk}/{part}/")
        assert shown.status_code == 200
        assert "<script>alert" not in shown.content.decode()


def test_who_may_ask_for_the_quota_that_a_job_waits_for_is_led_there(node: factories.FakeNode) -> None:
    project = factories.project(gpus=2, limit=2)
    researcher = people.person("rosa")
    registry.enrol(project, researcher)
    factories.job(project, researcher)
    factories.decide()
    job = factories.job(project, researcher, milli_gpus=2000)
    factories.decide()
    where = f'href="/projects/{project.pk}/request?model=h100"'
    page = people.browser(project.created_by).get(f"/jobs/{job.pk}").content.decode()
    assert where in page
    assert "Request quota" not in people.browser(researcher).get(f"/jobs/{job.pk}").content.decode()


def test_a_running_job_shows_where_it_runs_and_stops_asking_when_it_is_over(
    project: Project, lead: Client, node: factories.FakeNode
) -> None:
    job = factories.running_job(project, [node])
    page = lead.get(f"/jobs/{job.pk}/").content.decode()
    assert "It runs on alpha." in page
    assert 'hx-trigger="every 2s"' in page
    assert page.count('id="job-attempts"') == 1
    assert "hx-swap-oob" not in page
    assert f"/api/v1/telemetry/jobs/{job.pk}" in page
    (seen,) = set(re.findall(r"\?seen=([^\"]+)\"", page))
    with clock.frozen(clock.now() + timedelta(minutes=75)):
        same = lead.get(f"/jobs/{job.pk}/state/?seen={seen}").content.decode()
    assert same.count("hx-swap-oob") == 1
    attempts = same.partition('id="job-attempts"')[2]
    assert "1 h 15 m" in attempts
    assert "Stop…" not in same
    (member,) = factories.members_of(job)
    node.end(member.pk, code=3)
    node.sync()
    job.refresh_from_db()
    over = lead.get(f"/jobs/{job.pk}/state/?seen={seen}").content.decode()
    assert "It failed with exit code 3." in over
    assert "every 2s" not in over
    assert over.count("hx-swap-oob") == 3
    assert "Requeue" in over


def test_a_silent_node_makes_the_job_unknown_and_not_failed(
    project: Project, lead: Client, node: factories.FakeNode
) -> None:
    job = factories.running_job(project, [node])
    factories.fall_silent(node)
    members_lose_sight()
    page = lead.get(f"/jobs/{job.pk}/").content.decode()
    assert "Whether the job still runs there is not known." in page


def test_of_a_gang_only_the_silent_nodes_are_named_so(project: Project, lead: Client, node: factories.FakeNode) -> None:
    other = factories.node(gpus=2)
    job = factories.running_job(project, [node, other], milli_gpus=2000, nodes_exact=2)
    factories.fall_silent(other)
    members_lose_sight()
    page = lead.get(f"/jobs/{job.pk}/").content.decode()
    assert f"Nothing has been heard from {other.node.name}. Whether" in page


def test_stopping_asks_once_and_names_what_is_hurt(project: Project, lead: Client, node: factories.FakeNode) -> None:
    job = factories.running_job(project, [node], milli_gpus=2000)
    asked = lead.get(f"/jobs/{job.pk}/cancel/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in asked
    assert "2 GPUs on alpha" in asked
    assert str(project.created_by) in asked
    assert "its work is lost" in asked
    done = lead.post(f"/jobs/{job.pk}/cancel/")
    job.refresh_from_db()
    assert (done.status_code, job.state) == (302, "stopping")
    assert lead.post(f"/jobs/{job.pk}/resume/").status_code == 409


def test_who_may_not_act_is_not_asked(project: Project, lead: Client) -> None:
    job = factories.job(project)
    addresses = [f"/jobs/{job.pk}/{name}" for name in ("cancel", "pause", "resume", "requeue")]
    auditor, stranger = people.browser(people.auditor()), people.browser(people.person())
    assert {auditor.get(address).status_code for address in addresses} == {403}
    assert {stranger.post(address).status_code for address in addresses} == {404}
    parts = ["", "/state", "/check", "/request", "/history"]
    assert {stranger.get(f"/jobs/{job.pk}{part}").status_code for part in parts} == {404}
    assert {auditor.get(f"/jobs/{job.pk}{part}").status_code for part in parts} == {200}
    assert {people.browser().get(f"/jobs/{job.pk}{part}").status_code for part in parts} == {302}
    assert "Stop…" not in auditor.get(f"/jobs/{job.pk}/").content.decode()
    assert lead.get("/jobs/999999999").status_code == 404


def test_the_place_in_the_queue_is_the_order_in_which_jobs_start(project: Project) -> None:
    jobs = [factories.job(project, milli_gpus=8000, priority=priority, is_preemptible=True) for priority in (0, 9, 5)]
    places = [queue_place(job) for job in jobs]
    assert [(place.place, place.waiting) for place in places if place] == [(3, 3), (1, 3), (2, 3)]
    assert factories.decide() == [jobs[1].pk]
    page = people.browser(project.created_by).get(f"/jobs/{jobs[2].pk}").content.decode()
    assert "1 of 2 waiting jobs of this project, by priority, then first come" in page
