"""Telemetry and samples through HTTP."""

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.tests import factories as people
from accounts.tokens import digest_of
from agent.messages import SAMPLES_PATH, SampleBatch, SampleReply
from inventory.models import Node
from kernel import clock
from monitoring.models import GpuSample
from monitoring.services import samples_ingest
from monitoring.tests import factories
from monitoring.tests.factories import NOON
from projects.tests import factories as registry

pytestmark = pytest.mark.django_db
TOKEN = "node-secret"
GPUS, JOBS, PROJECTS = "/api/v1/telemetry/gpus/", "/api/v1/telemetry/jobs/", "/api/v1/telemetry/projects/"


@pytest.fixture
def node() -> Node:
    return factories.node(gpus=2, token_digest=digest_of(TOKEN))


@pytest.fixture
def someone() -> APIClient:
    return people.api_client(people.person())


def post(batch: SampleBatch | bytes, token: str = TOKEN) -> Any:
    data = batch if isinstance(batch, bytes) else msgspec.json.encode(batch)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return Client().post(SAMPLES_PATH, data, content_type="application/json", headers=headers)


def measured(node: Node, *rows: list[float | None]) -> None:
    devices = list(node.devices.all())
    batch = factories.batch([factories.columns(d.uuid, row) for d, row in zip(devices, rows, strict=False)])
    with clock.frozen(batch.sent_at):
        samples_ingest(node=node, batch=batch)


def test_a_node_posts_its_samples(node: Node) -> None:
    uuid = node.devices.all()[0].uuid
    with clock.frozen(NOON):
        answer = post(factories.batch([factories.columns(uuid, [1.0]), factories.columns("GPU-x", [1.0])]))
    assert answer.status_code == 200
    assert msgspec.json.decode(answer.content, type=SampleReply) == SampleReply(accepted=1, duplicates=0, refused=1)
    assert GpuSample.objects.get().device.uuid == uuid


def test_only_a_node_may_post(node: Node) -> None:
    batch = factories.batch([factories.columns(node.devices.all()[0].uuid, [1.0])])
    assert {post(batch, token).status_code for token in ("", "wrong")} == {401}
    owner = people.person()
    assert post(batch, people.token(owner)[1]).status_code == 401
    assert not GpuSample.objects.exists()


def test_what_is_malformed_is_named_by_its_path(node: Node) -> None:
    batch = factories.batch([factories.columns(node.devices.all()[0].uuid, [1.0, 2.0])])
    plain = json.loads(msgspec.json.encode(batch))
    plain["devices"][0]["utilisation_pct"][1] = 250
    wrong = post(msgspec.json.encode(plain))
    assert (wrong.status_code, list(wrong.json()["errors"])) == (422, ["$.devices[0].utilisation_pct[1]"])
    plain["devices"][0]["utilisation_pct"] = [1]
    short = post(msgspec.json.encode(plain))
    assert (short.status_code, list(short.json()["errors"])) == (422, ["devices.0.utilisation_pct"])
    assert post(b"{").status_code == 422
    assert not GpuSample.objects.exists()


def test_gpus_show_their_newest_values_and_no_data_as_null(node: Node, someone: APIClient) -> None:
    measured(node, [42.0])
    with clock.frozen(NOON + timedelta(seconds=20)):
        answer = someone.get(GPUS).json()
    first, second = answer["results"]
    assert answer["count"] == 2
    assert (first["utilisation_pct"], first["power_w"], first["is_stale"]) == (42.0, 300.0, False)
    assert (second["utilisation_pct"], second["last_sample_at"], second["is_stale"]) == (None, None, True)
    assert "series" not in first
    assert people.api_client().get(GPUS).status_code == 401


def test_gpus_have_series_when_a_window_is_asked_for(node: Node, someone: APIClient) -> None:
    measured(node, [10.0, 20.0])
    query = "?from=2026-06-09T11:59:00Z&to=2026-06-09T12:01:00Z&step=60"
    first, second = someone.get(GPUS + query).json()["results"]
    assert first["series"]["columns"]["utilisation_pct"] == [None, 15.0]
    assert second["series"]["series"][0]["values"] == [None, None]
    assert someone.get(f"{GPUS}?gpu_model=h100&node={node.name}").json()["count"] == 2
    assert someone.get(f"{GPUS}?gpu_model=a100").json()["count"] == 0
    assert someone.get(f"{GPUS}?is_simulated=true").json()["count"] == 0


def test_a_job_s_series_is_for_those_who_may_see_the_job(node: Node) -> None:
    project = registry.active_project()
    job = factories.job(project)
    factories.allocation(job, node.devices.all()[0], NOON, NOON + timedelta(minutes=2))
    measured(node, [80.0, None, 60.0])
    lead, stranger = people.api_client(project.created_by), people.api_client(people.person())
    with clock.frozen(NOON + timedelta(minutes=10)):
        answer = lead.get(f"{JOBS}{job.pk}").json()
        assert stranger.get(f"{JOBS}{job.pk}").status_code == 404
        assert people.api_client().get(f"{JOBS}{job.pk}").status_code == 401
    assert (answer["start"], answer["end"]) == ("2026-06-09T12:00:00Z", "2026-06-09T12:02:00Z")
    assert (answer["unit"], answer["max"], answer["step_s"]) == ("%", 100, 30)
    assert answer["series"][0]["values"] == answer["columns"]["utilisation_pct"] == [70.0, None, None, None]
    assert answer["held"] == [1, 1, 1, 1]
    assert (answer["mean_utilisation_pct"], answer["samples"], answer["is_simulated"]) == (70.0, 2, False)


def test_a_chart_may_ask_for_memory_or_power(node: Node) -> None:
    project = registry.active_project()
    job = factories.job(project)
    factories.allocation(job, node.devices.all()[0], NOON)
    measured(node, [80.0])
    lead = people.api_client(project.created_by)
    with clock.frozen(NOON + timedelta(seconds=30)):
        memory = lead.get(f"{JOBS}{job.pk}/?measure=memory").json()
        power = lead.get(f"{JOBS}{job.pk}/?measure=power").json()
        wrong = lead.get(f"{JOBS}{job.pk}/?measure=noise")
    assert (memory["unit"], memory["series"][0]["values"][0]) == ("GiB", 10.0)
    assert (power["unit"], power["series"][0]["values"][0]) == ("W", 300.0)
    assert (wrong.status_code, list(wrong.json()["errors"])) == (422, ["measure"])


def test_a_project_s_series_covers_a_day_by_default(node: Node) -> None:
    project = registry.active_project()
    factories.allocation(factories.job(project), node.devices.all()[0], NOON)
    measured(node, [80.0])
    lead = people.api_client(project.created_by)
    with clock.frozen(NOON + timedelta(minutes=1)):
        answer = lead.get(f"{PROJECTS}{project.pk}/").json()
    known = [value for value in answer["columns"]["utilisation_pct"] if value is not None]
    assert (known, len(answer["columns"]["gpus"])) == ([80.0], 145)
    assert (sum(answer["held"]), answer["held"][-1]) == (1, 1)
    assert people.api_client(people.person()).get(f"{PROJECTS}{project.pk}/").status_code == 404


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ("step=5", "step", "“5” is not a whole number of seconds from 10 to 86400"),
        ("step=1e3", "step", "“1e3”"),
        ("from=yesterday", "from", "“yesterday” is not an instant"),
        ("from=2026-06-09T12:00:00", "from", "time zone"),
        ("from=2026-13-09T12:00:00Z", "from", "2026-13-09"),
        ("from=2026-06-09T12:00:00Z&to=2026-06-09T11:00:00Z", "to", "is not after"),
        ("from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&step=60", "step", "at most 2000"),
        ("from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&step=86400", "step", "at most 2000"),
    ],
)
def test_a_window_that_cannot_be_meant_is_refused(
    node: Node, someone: APIClient, query: str, field: str, said: str
) -> None:
    answer = someone.get(f"{GPUS}?{query}")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert said in answer.json()["errors"][field][0]


def test_an_offset_in_an_address_may_have_lost_its_plus(node: Node, someone: APIClient) -> None:
    query = "?from=2026-06-09T13:59:00 02:00&to=2026-06-09T14:01:00 02:00&step=60"
    assert someone.get(GPUS + query).json()["results"][0]["series"]["start"] == "2026-06-09T11:59:00Z"


def test_series_cost_the_same_for_few_and_many(node: Node, someone: APIClient) -> None:
    someone.get(GPUS + "?step=60")
    with CaptureQueriesContext(connection) as few:
        someone.get(GPUS + "?step=60")
    factories.node(gpus=6)
    with CaptureQueriesContext(connection) as many:
        assert someone.get(GPUS + "?step=60").json()["count"] == 8
    assert len(few) == len(many) <= 10
