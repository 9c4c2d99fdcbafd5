"""The demo organisation with its simulated nodes: the laws hold and the figures agree.

Seeded once for all of these tests, which only read.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import Count, F, Sum
from pytest_django import DjangoDbBlocker

from accounts.models import Person
from inventory.models import Device, GpuModel, Node, PoolKind
from inventory.selectors import capacity_at
from kernel import clock
from kernel.calendar import local_day
from portal.demo.fleet import MODELS, fleet_nodes
from portal.demo.lanes import wanted
from portal.demo.names import SHOWCASE
from portal.demo.submit import demo_submit
from portal.demo.wishes import NODE
from portal.tests.demo_fleet import seed_with_fleet, story
from portal.tests.demo_instance import demo_instance
from projects.models import ComputeRequest, Milestone, Project, Stage, Tier
from projects.policies import visible_to
from quotas.engine.auditing import audit
from quotas.engine.solving import solve
from quotas.models import Claim, ClaimKind
from quotas.selectors import promised_at
from scheduling.engine import MILLI
from scheduling.models import Charge, DeviceAllocation, Job

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def seeded(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("fleet") / "fleet.json"
    with django_db_blocker.unblock(), transaction.atomic():
        seed_with_fleet(path)
        yield path
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_nothing_is_submitted_where_there_is_no_demo() -> None:
    """Runs before the others; by its mark this module gets a database even when it is run alone."""
    assert demo_submit() == 0


def test_the_organisation_is_as_large_as_promised(seeded: Path) -> None:
    assert Project.objects.count() == 300
    assert Person.objects.count() == 120
    assert Node.objects.filter(name__in=[node.name for node in fleet_nodes()]).count() == 60
    per_model = dict(Node.objects.values_list("gpu_model__name").annotate(n=Count("pk")).order_by())
    assert per_model == {name: facts.nodes for name, facts in MODELS.items()}
    assert Device.objects.count() == 480
    assert not Device.objects.filter(is_simulated=False).exists()
    assert Job.objects.exclude(state="queued").count() > 2000
    assert seeded.stat().st_mode & 0o077 == 0


def test_a_tenth_of_each_model_is_promised_to_nobody(seeded: Path) -> None:
    now = clock.now()
    capacity, promised = capacity_at(now), promised_at(now)
    for model in GpuModel.objects.filter(name__in=MODELS):
        usable = capacity[model.pk].usable
        pools = Node.objects.filter(gpu_model=model, pool__kind=PoolKind.DEDICATED).count() * 8
        covered = Claim.objects.filter(gpu_model=model, pool__isnull=False).aggregate(n=Sum("guaranteed"))["n"] or 0
        assert 0 < promised[model.pk] + pools - covered <= 0.9 * usable, model.name


def test_nothing_of_the_demo_uses_the_models_of_the_agents_here(seeded: Path) -> None:
    """What ``lead`` tries there never waits behind a job of the demo, nor lands on a node that runs no process."""
    tried = Project.objects.get(name="Long-context pretraining")
    held = Claim.objects.filter(project=tried, resource="gpu").values_list("gpu_model__name", flat=True)
    assert not set(held) & set(MODELS)
    assert not Job.objects.filter(project=tried).exists()
    for job in Job.objects.filter(state="queued").prefetch_related("gpu_models"):
        assert {model.name for model in job.gpu_models.all()} <= set(MODELS), job.name


def test_the_accounts_have_a_project_with_work_past_and_present(seeded: Path) -> None:
    shown = Project.objects.get(name=SHOWCASE)
    for name in ("lead", "researcher"):
        assert visible_to(Person.objects.get(username=name)).filter(pk=shown.pk).exists()
    claim = Claim.objects.get(project=shown)
    assert (claim.guaranteed, claim.limit) == (32, 48)
    states = set(Job.objects.filter(project=shown).values_list("state", flat=True))
    assert states >= {"queued", "succeeded", "failed"}
    assert shown.milestones.filter(met_on__isnull=False).exists()
    assert shown.milestones.filter(met_on__isnull=True, due_on__gte=local_day(clock.now())).exists()


def test_the_records_end_where_the_present_begins(seeded: Path) -> None:
    """Of each model as many GPUs were busy in the last working week as its projects now keep busy."""
    today = local_day(clock.now())
    days = [day for back in range(1, 8) if (day := today - timedelta(days=back)).weekday() in (1, 2, 3, 4)]
    per_model: dict[int, int] = defaultdict(int)
    for (_project, model), gpus in wanted().items():
        per_model[model] += gpus
    capacity = capacity_at(clock.now())
    for model, gpus in per_model.items():
        spent = Charge.objects.filter(gpu_model=model, day__in=days).aggregate(n=Sum("milli_gpu_seconds"))["n"]
        mean = spent / MILLI / 86400 / len(days)
        assert 0.6 * capacity[model].capacity < mean < 0.8 * capacity[model].capacity
        assert 0.85 * gpus < mean < 1.1 * gpus


def test_weekends_are_quieter_than_working_days(seeded: Path) -> None:
    by_day = dict(Charge.objects.values_list("day").annotate(n=Sum("milli_gpu_seconds")).order_by())
    now = local_day(clock.now())
    sundays = [n for day, n in by_day.items() if day.weekday() == 6 and (now - day).days < 60]
    fridays = [n for day, n in by_day.items() if day.weekday() == 4 and (now - day).days < 60]
    assert sum(sundays) / len(sundays) < 0.9 * sum(fridays) / len(fridays)


def test_some_milestones_are_late_and_no_submission_has_waited_for_ever(seeded: Path) -> None:
    today = local_day(clock.now())
    late = Milestone.objects.filter(met_on__isnull=True, due_on__lt=today)
    assert 25 <= late.values("project").distinct().count() <= 45
    assert min(late.values_list("due_on", flat=True)) > today - timedelta(days=60)
    waits = sorted(
        clock.now() - at for at in Project.objects.filter(state="submitted").values_list("updated_at", flat=True)
    )
    assert timedelta(hours=1) > waits[0]
    assert sum(wait > timedelta(days=12) for wait in waits) <= 2
    assert waits[-1] < timedelta(days=21)


def test_quotas_are_concentrated_and_large_ones_are_whole_nodes(seeded: Path) -> None:
    claims = list(Claim.objects.filter(gpu_model__name__in=MODELS, project__isnull=False, kind=ClaimKind.BASE))
    guaranteed = [claim.guaranteed for claim in claims if claim.guaranteed]
    assert 45 <= len(guaranteed) <= 75
    assert len(claims) > 3 * len(guaranteed)
    assert all(gpus % NODE == 0 for gpus in guaranteed if gpus >= NODE)
    assert sum(gpus >= 16 for gpus in guaranteed) >= 6


def test_no_device_was_ever_held_twice(seeded: Path) -> None:
    held: dict[int, list[Any]] = defaultdict(list)
    for row in DeviceAllocation.objects.order_by("device_id", "allocated_at"):
        held[row.device_id].append(row)
    assert held
    for rows in held.values():
        for before, after in pairwise(rows):
            assert before.released_at is not None
            assert before.released_at <= after.allocated_at


def test_charges_cover_the_time_held_to_the_second_and_are_marked_simulated(seeded: Path) -> None:
    assert not Charge.objects.filter(is_simulated=False).exists()
    assert not Charge.objects.filter(per_gpu_hour__isnull=True).exists()
    rows = DeviceAllocation.objects.annotate(
        charged=Sum("charges__milli_gpu_seconds"), length=F("released_at") - F("allocated_at")
    )
    for row in rows:
        assert row.charged == MILLI * row.length // (row.length.resolution * 1_000_000), row.pk


def test_jobs_of_the_past_ended_and_held_no_more_than_their_project_may(seeded: Path) -> None:
    limits = dict(ComputeRequest.objects.values_list("project_id", "max"))
    granted = Claim.objects.filter(project__isnull=False, resource="gpu", kind=ClaimKind.BASE)
    held = granted.values_list("project_id", "limit")
    limits |= {project: limit or 0 for project, limit in held if project is not None}
    past = Job.objects.exclude(state="queued")
    assert not past.filter(ended_at__isnull=True).exists()
    assert not past.filter(ended_at__gt=clock.now()).exists()
    assert not past.filter(submitted_at__lt=F("project__created_at")).exists()
    assert all(job.milli_gpus <= limits[job.project_id] * MILLI for job in past)


def test_seeding_again_changes_nothing(seeded: Path) -> None:
    before = story()
    call_command("seed_demo", fleet_spec=seeded)
    assert story() == before


def test_people_submit_a_little_at_a_time_until_the_cluster_is_busy(seeded: Path) -> None:
    capacity = sum(facts.nodes * 8 for facts in MODELS.values())
    with transaction.atomic():
        assert demo_submit(5) == 0
        Job.objects.filter(state="queued").update(state="cancelled", ended_at=clock.now())
        before = Job.objects.count()
        assert demo_submit(5) == 5
        assert Job.objects.count() == before + 5
        for _ in range(60):
            if demo_submit(50) == 0:
                break
        held = Job.objects.filter(state="queued").aggregate(n=Sum("milli_gpus"))["n"] / MILLI
        transaction.set_rollback(True)
    assert 0.6 * capacity < held < 0.95 * capacity


def test_high_tier_training_gets_most_of_the_training_gpus(seeded: Path) -> None:
    instance = demo_instance()
    plan = solve(instance).plan
    kind = {project.id: (project.stage, project.tier) for project in instance.projects}
    given = [(kind[row.project], row.gpus) for row in plan.quotas if kind[row.project][0] == Stage.TRAINING]
    high = sum(gpus for (_stage, tier), gpus in given if tier == Tier.HIGH)
    assert high >= 0.6 * sum(gpus for _kind, gpus in given) > 0


def test_the_plan_of_the_organisation_passes_its_audit(seeded: Path) -> None:
    instance = demo_instance()
    plan = solve(instance).plan
    assert plan.status == "optimal"
    assert audit(instance.document(), plan.document(seconds=0)) == []
