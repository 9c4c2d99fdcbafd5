"""Grants: what they replace, what they refuse, and that the past stays as it was (QUO1, QUO3, QUO5, REG2)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from accounts.models import Role
from accounts.tests import factories as people
from inventory.models import GpuModel
from kernel import clock, outbox
from kernel.errors import Conflict, Forbidden, Invalid
from kernel.intervals import Interval
from kernel.models import AuditEntry, OutboxEvent
from projects import services as projects
from projects.errors import OwnProject
from projects.models import ProjectRole
from projects.tests.factories import active_project, draft_project, submitted_project
from quotas import services
from quotas.errors import ExceedsFree, NoResources
from quotas.models import Claim
from quotas.selectors import Quota, area_quotas_at, free_between, promised_at, quotas_at
from quotas.services import AreaGrantSpec, GrantSpec
from quotas.tests import factories as make
from quotas.usage import QuotaKey

pytestmark = pytest.mark.django_db
T0 = datetime(2030, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def held(project: int, model: GpuModel, at: datetime) -> Quota | None:
    return quotas_at(at, [project]).get((project, "gpu", model.pk))


def test_a_grant_holds_from_now_on_and_is_on_record() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    with clock.frozen(T0):
        claim = make.grant(project, model, 4, limit=6, reason="first share")
    assert held(project.pk, model, T0) == Quota(4, 6)
    assert held(project.pk, model, T0 - timedelta(seconds=1)) is None
    assert promised_at(T0 + 999 * DAY) == {model.pk: 4}
    assert free_between(model, Interval(T0)) == 4
    entry = AuditEntry.objects.get(action="quota.granted")
    assert entry.after is not None
    assert (entry.subject_id, entry.actor_name, entry.after["guaranteed"]) == (str(claim.pk), "Granter", 4)
    event = OutboxEvent.objects.get(topic="quota.changed")
    assert event.data == {"resource": "gpu", "gpu_model": model.pk, "project": project.pk}


def test_a_new_grant_ends_the_old_one_at_its_start_and_voids_what_was_to_come() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    with clock.frozen(T0):
        first = make.grant(project, model, 4)
        future = make.grant(project, model, 6, effective_from=T0 + 10 * DAY)
    with clock.frozen(T0 + DAY):
        make.grant(project, model, 2, effective_from=T0 + 5 * DAY, reason="less")
    first.refresh_from_db()
    future.refresh_from_db()
    assert (first.effective_to, first.end_reason) == (T0 + 5 * DAY, "less")
    assert (future.voided_at, future.ended_by) == (T0 + DAY, make.granter())
    assert [held(project.pk, model, T0 + d * DAY) for d in (0, 4.9, 5, 11)] == [
        Quota(4, None),
        Quota(4, None),
        Quota(2, None),
        Quota(2, None),
    ]


def test_a_grant_for_a_time_lets_the_old_one_go_on_after_it() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    with clock.frozen(T0):
        first = make.grant(project, model, 4, limit=5)
        make.grant(project, model, 8, effective_from=T0 + DAY, effective_to=T0 + 2 * DAY)
    amounts = [held(project.pk, model, T0 + h * DAY / 2) for h in range(5)]
    assert amounts == [Quota(4, 5), Quota(4, 5), Quota(8, None), Quota(8, None), Quota(4, 5)]
    rest = Claim.objects.get(continues=first)
    assert (rest.effective_from, rest.effective_to, rest.granted_by) == (T0 + 2 * DAY, None, make.granter())


def test_granting_twice_at_the_same_moment_leaves_the_second() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    with clock.frozen(T0):
        make.grant(project, model, 4)
        make.grant(project, model, 5)
    assert held(project.pk, model, T0) == Quota(5, None)
    assert Claim.objects.filter(voided_at__isnull=True).count() == 1


def test_raising_a_quota_counts_only_the_difference() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    make.grant(project, model, 6)
    make.grant(project, model, 8)
    assert free_between(model, Interval(clock.now())) == 0


def test_more_than_is_free_is_refused_with_the_numbers() -> None:
    model, _node = make.capacity(8, reserve=1000)
    with clock.frozen(T0):
        make.grant(active_project(), model, 3)
        make.grant(active_project(), model, 3, effective_from=T0 + DAY, effective_to=T0 + 2 * DAY)
        with pytest.raises(ExceedsFree) as refused:
            make.grant(active_project(), model, 5)
        make.grant(active_project(), model, 4, effective_to=T0 + DAY)
    assert refused.value.data["asked"] == 5
    assert (refused.value.data["free"], refused.value.data["usable"]) == (1, 7)
    assert refused.value.data["at"] == (T0 + DAY).isoformat()
    assert "H100: 5 asked, 1 of 7 usable GPUs are free" in refused.value.errors["guaranteed"][0]


def test_amounts_beyond_all_reason_are_refused_in_words() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    with pytest.raises(ExceedsFree) as refused:
        make.grant(project, model, 10**9)
    assert "8 of 8" in refused.value.message
    with pytest.raises(ExceedsFree) as refused:
        make.grant(project, model, 1, limit=10**9)
    assert list(refused.value.errors) == ["limit"]
    with pytest.raises(Invalid) as invalid:
        make.grant(project, model, 10**30)
    assert list(invalid.value.errors) == ["guaranteed"]
    for resource in ("cpu", "memory", "storage"):
        with pytest.raises(Invalid) as invalid:
            services.quota_grant(actor=make.granter(), grant=GrantSpec(project.pk, 10**24, resource=resource))
        assert list(invalid.value.errors) == ["guaranteed"]


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"guaranteed": -1}, "guaranteed"),
        ({"guaranteed": 4, "limit": 3}, "limit"),
        ({"guaranteed": 1, "resource": "disk"}, "resource"),
        ({"guaranteed": 1, "resource": "gpu", "gpu_model_id": None}, "gpu_model"),
        ({"guaranteed": 1, "resource": "cpu"}, "gpu_model"),
        ({"guaranteed": 1, "gpu_model_id": 10**9}, "gpu_model"),
        ({"guaranteed": 1, "effective_from": T0 - DAY}, "effective_from"),
        ({"guaranteed": 1, "effective_to": T0}, "effective_to"),
        ({"guaranteed": 1, "project_id": 10**9}, "project"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(terms: dict[str, object], field: str) -> None:
    model, _node = make.capacity(8)
    project = active_project()
    spec = {"project_id": project.pk, "gpu_model_id": model.pk, **terms}
    with clock.frozen(T0), pytest.raises(Invalid) as refused:
        services.quota_grant(actor=make.granter(), grant=GrantSpec(**spec))  # type: ignore[arg-type]
    assert field in refused.value.errors
    assert not Claim.objects.exists()


def test_cores_and_memory_are_bounded_by_the_registered_nodes() -> None:
    make.capacity(8)
    first, second = active_project(), active_project()
    grant = services.quota_grant
    grant(actor=make.granter(), grant=GrantSpec(first.pk, 90, resource="cpu"))
    with pytest.raises(ExceedsFree) as refused:
        grant(actor=make.granter(), grant=GrantSpec(second.pk, 7, resource="cpu"))
    assert (refused.value.data["free"], refused.value.data["usable"]) == (6, 96)
    grant(actor=make.granter(), grant=GrantSpec(second.pk, 6, resource="cpu", limit=96))
    grant(actor=make.granter(), grant=GrantSpec(second.pk, 2**40, resource="memory"))
    grant(actor=make.granter(), grant=GrantSpec(second.pk, 2**45, resource="storage"))
    assert len(quotas_at(clock.now(), [second.pk])) == 3


def test_only_an_active_project_gets_a_quota() -> None:
    model, _node = make.capacity(8)
    admin = make.granter()
    suspended, closed = active_project(), active_project()
    projects.project_suspend(actor=admin, project_id=suspended.pk, reason="pause")
    projects.project_close(actor=admin, project_id=closed.pk, reason="done")
    for project in (draft_project(), submitted_project(), suspended, closed):
        with pytest.raises(NoResources):
            make.grant(project, model, 1)
    assert not Claim.objects.exists()


def test_a_suspended_project_keeps_its_quota_and_a_closed_one_loses_it() -> None:
    model, _node = make.capacity(8)
    admin, kept, closed = make.granter(), active_project(), active_project()
    for project in (kept, closed):
        make.grant(project, model, 3)
    with clock.frozen(T0):
        make.grant(closed, model, 4, effective_from=T0 + DAY)
        projects.project_suspend(actor=admin, project_id=kept.pk, reason="pause")
        projects.project_close(actor=admin, project_id=closed.pk, reason="done")
        outbox.deliver_due()
        assert held(kept.pk, model, T0) == Quota(3, None)
        assert held(closed.pk, model, T0) is None
        assert free_between(model, Interval(T0)) == 5
        assert services.project_claims_end(project_id=closed.pk) == 0
    assert held(closed.pk, model, T0 - DAY) == Quota(3, None)


def test_nobody_but_an_admin_grants_and_never_to_an_own_project() -> None:
    model, _node = make.capacity(8)
    lead = people.person()
    project = active_project(lead=lead)
    for someone in (lead, people.director(), people.auditor(), people.person()):
        with pytest.raises(Forbidden):
            services.quota_grant(actor=someone, grant=GrantSpec(project.pk, 1, gpu_model_id=model.pk))
    member = people.admin()
    projects.member_add(actor=lead, project_id=project.pk, person=str(member.username), role=ProjectRole.RESEARCHER)
    with pytest.raises(OwnProject):
        services.quota_grant(actor=member, grant=GrantSpec(project.pk, 1, gpu_model_id=model.pk))
    creator = people.person("boss", Role.ADMIN)
    with pytest.raises(OwnProject):
        services.quota_grant(actor=creator, grant=GrantSpec(active_project(lead=creator).pk, 1, gpu_model_id=model.pk))


def test_an_area_is_promised_something_on_top_of_its_projects() -> None:
    model, _node = make.capacity(8)
    area = make.area()
    project = active_project()
    make.grant(project, model, 3)
    spec = AreaGrantSpec(area.pk, 4, gpu_model_id=model.pk)
    services.area_grant(actor=make.granter(), grant=spec)
    services.area_grant(actor=make.granter(), grant=spec)
    assert area_quotas_at(clock.now()) == {(area.pk, "gpu", model.pk): Quota(4, None)}
    assert promised_at(clock.now()) == {model.pk: 7}
    with pytest.raises(ExceedsFree):
        make.grant(active_project(), model, 2)


def test_a_claim_ends_when_told_and_only_once() -> None:
    model, _node = make.capacity(8)
    project = active_project()
    with clock.frozen(T0):
        claim = make.grant(project, model, 4)
        future = make.grant(project, model, 5, effective_from=T0 + 9 * DAY)
    with clock.frozen(T0 + DAY):
        ended = services.claim_end(actor=make.granter(), claim_id=claim.pk, at=T0 + 2 * DAY, reason="given back")
        assert (ended.effective_to, ended.end_reason) == (T0 + 2 * DAY, "given back")
        assert services.claim_end(actor=make.granter(), claim_id=future.pk).voided_at == T0 + DAY
        with pytest.raises(Conflict):
            services.claim_end(actor=make.granter(), claim_id=future.pk)
    with clock.frozen(T0 + 3 * DAY), pytest.raises(Conflict):
        services.claim_end(actor=make.granter(), claim_id=claim.pk)
    with pytest.raises(Forbidden):
        services.claim_end(actor=people.director(), claim_id=claim.pk)


def test_what_was_answered_about_the_past_never_changes() -> None:
    model, node = make.capacity(8)
    projects_ = [active_project() for _ in range(3)]
    moments = [T0 + d * DAY for d in range(10)]
    answers: dict[datetime, dict[QuotaKey, Quota]] = {}
    acts: list[Callable[[], object]] = [
        lambda: make.grant(projects_[0], model, 4),
        lambda: make.grant(projects_[1], model, 2, effective_to=clock.now() + 2 * DAY),
        lambda: make.grant(projects_[0], model, 2, effective_from=clock.now() + DAY),
        lambda: make.grant(projects_[2], model, 3, limit=8),
        lambda: services.capacity_change(actor=make.granter(), node_id=node.pk, gpus=6),
        lambda: services.project_claims_end(project_id=projects_[2].pk),
        lambda: make.grant(projects_[0], model, 1, effective_to=clock.now() + DAY),
        lambda: services.reserve_set(actor=make.granter(), gpu_model_id=model.pk, basis_points=1000),
    ]
    for moment, act in zip(moments, acts, strict=False):
        with clock.frozen(moment):
            act()
            answers[moment + DAY / 2] = quotas_at(moment + DAY / 2)
        with clock.frozen(moment + DAY):
            for past in answers:
                assert quotas_at(past) == answers[past]


def test_a_start_in_another_zone_is_the_instant_it_names() -> None:
    """2:30 in the night when clocks go back in Berlin comes twice; the offset says which is meant."""
    model, _node = make.capacity(8)
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2030, 10, 27, 2, 30, tzinfo=berlin)
    second = first.replace(fold=1)
    one, two = active_project(), active_project()
    make.grant(one, model, 1, effective_from=first)
    make.grant(two, model, 1, effective_from=second)
    one_hour_between = datetime(2030, 10, 27, 1, 0, tzinfo=UTC)
    assert held(one.pk, model, one_hour_between) == Quota(1, None)
    assert held(two.pk, model, one_hour_between) is None
    assert held(two.pk, model, datetime(2030, 10, 27, 1, 30, tzinfo=UTC)) == Quota(1, None)
