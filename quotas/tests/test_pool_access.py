"""Who may use a dedicated pool: opened to projects and areas by the hour, by others than their own people."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Role
from accounts.tests import factories as people
from inventory.models import Pool, PoolKind
from inventory.tests import factories as machines
from kernel import clock
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.intervals import Interval
from kernel.models import AuditEntry, OutboxEvent
from kernel.ranges import to_range
from projects.errors import OwnProject
from projects.models import ResearchArea
from projects.tests.factories import active_project, draft_project
from quotas import services
from quotas.errors import AccessOverlaps, NoResources
from quotas.models import PoolAccess
from quotas.selectors import pools_open_at, visible_access
from quotas.services import AccessSpec
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def pool() -> Pool:
    return machines.pool("kept", kind=PoolKind.DEDICATED)


def opened(pool: Pool, **spec: object) -> PoolAccess:
    return services.pool_open(actor=make.granter(), access=AccessSpec(pool.pk, **spec))  # type: ignore[arg-type]


def test_a_pool_is_open_to_a_project_from_a_moment_until_a_moment(pool: Pool) -> None:
    project, now = active_project(), clock.now()
    assert pools_open_at(now) == {pool.pk: frozenset()}
    row = opened(pool, project_id=project.pk, effective_from=now + DAY, effective_to=now + 2 * DAY, reason="a run")
    open_to = [pools_open_at(now + days * DAY)[pool.pk] for days in (0, 1, 1.99, 2)]
    assert open_to == [frozenset(), {project.pk}, {project.pk}, frozenset()]
    entry = AuditEntry.objects.get(action="pool.opened")
    assert entry.after is not None
    assert (entry.subject_id, entry.after["project"], entry.after["reason"]) == (str(pool.pk), project.pk, "a run")
    assert OutboxEvent.objects.filter(topic="pool.access_changed", subject_id=str(pool.pk)).count() == 1
    with pytest.raises(AccessOverlaps):
        opened(pool, project_id=project.pk, effective_from=now + 1.5 * DAY)
    with pytest.raises(IntegrityError), transaction.atomic():
        PoolAccess.objects.create(
            pool=pool, project=project, during=row.during, granted_by=make.granter(), granted_at=now
        )


def test_an_area_stands_for_its_projects_and_those_below(pool: Pool) -> None:
    above = make.area("vision")
    below = ResearchArea.objects.create(name="satellites", title="Satellites", parent=above)
    direct, inner, other = active_project(), active_project(), active_project()
    for project, area in ((direct, above), (inner, below)):
        project.area = area
        project.save(update_fields=["area"])
    opened(pool, area_id=above.pk)
    assert pools_open_at(clock.now()) == {pool.pk: {direct.pk, inner.pk}}
    assert other.pk not in pools_open_at(clock.now())[pool.pk]


def test_access_ends_now_or_later_and_what_has_not_begun_is_void(pool: Pool) -> None:
    project, admin, now = active_project(), make.granter(), clock.now()
    row = opened(pool, project_id=project.pk)
    services.pool_close(actor=admin, access_id=row.pk, at=now + DAY)
    assert pools_open_at(now + DAY / 2)[pool.pk] == {project.pk}
    services.pool_close(actor=admin, access_id=row.pk, reason="done")
    assert pools_open_at(clock.now())[pool.pk] == frozenset()
    assert AuditEntry.objects.filter(action="pool.closed").count() == 2
    with pytest.raises(Conflict):
        services.pool_close(actor=admin, access_id=row.pk)
    later = opened(pool, project_id=project.pk, effective_from=now + DAY)
    assert services.pool_close(actor=admin, access_id=later.pk).voided_at is not None
    with pytest.raises(NotFound):
        services.pool_close(actor=admin, access_id=later.pk + 1)


def test_a_pool_that_is_shared_again_forgets_who_might_use_it(pool: Pool) -> None:
    project, admin = active_project(), make.granter()
    opened(pool, project_id=project.pk)
    services.pool_release(actor=admin, pool_id=pool.pk)
    with pytest.raises(Conflict):
        opened(pool, project_id=project.pk)
    services.pool_dedicate(actor=admin, pool_id=pool.pk)
    assert pools_open_at(clock.now()) == {pool.pk: frozenset()}


def test_only_an_admin_opens_and_never_to_an_own_project(pool: Pool) -> None:
    own, admin = active_project(), people.person("both", Role.ADMIN)
    project = active_project(researchers=(admin,))
    project.area = make.area()
    project.save(update_fields=["area"])
    for spec in (AccessSpec(pool.pk, project_id=project.pk), AccessSpec(pool.pk, area_id=make.area().pk)):
        with pytest.raises(OwnProject):
            services.pool_open(actor=admin, access=spec)
    row = opened(pool, project_id=own.pk)
    for someone in (people.director(), people.auditor(), own.created_by):
        with pytest.raises(Forbidden):
            services.pool_open(actor=someone, access=AccessSpec(pool.pk, project_id=project.pk))
        with pytest.raises(Forbidden):
            services.pool_close(actor=someone, access_id=row.pk)


def test_what_makes_no_sense_is_refused(pool: Pool) -> None:
    project, area = active_project(), make.area()
    for spec in ({}, {"project_id": project.pk, "area_id": area.pk}, {"project_id": 999_999}, {"area_id": 999_999}):
        with pytest.raises(Invalid):
            opened(pool, **spec)
    for days in ({"effective_from": clock.now() - DAY}, {"effective_to": clock.now() - DAY}):
        with pytest.raises(Invalid):
            opened(pool, project_id=project.pk, **days)
    with pytest.raises(NoResources):
        opened(pool, project_id=draft_project().pk)
    with pytest.raises(NotFound):
        services.pool_open(actor=make.granter(), access=AccessSpec(999_999, project_id=project.pk))
    with pytest.raises(IntegrityError), transaction.atomic():
        PoolAccess.objects.create(
            pool=pool, during=to_range(Interval(clock.now())), granted_by=make.granter(), granted_at=clock.now()
        )


def test_one_sees_the_access_of_what_one_may_know_of(pool: Pool) -> None:
    mine, other = active_project(), active_project()
    area = make.area()
    mine.area = ResearchArea.objects.create(name="inner", title="Inner", parent=area)
    mine.save(update_fields=["area"])
    rows = [opened(pool, project_id=mine.pk), opened(pool, project_id=other.pk), opened(pool, area_id=area.pk)]
    assert set(visible_access(mine.created_by, pool.pk)) == {rows[0], rows[2]}
    assert set(visible_access(other.created_by, pool.pk)) == {rows[1]}
    assert set(visible_access(people.auditor(), pool.pk)) == set(rows)
    assert not visible_access(people.person(), pool.pk)


def test_the_page_gives_and_ends_access_and_the_api_too(pool: Pool) -> None:
    project, admin = active_project(name="Quiet oceans"), make.granter()
    browser = people.browser(admin)
    page = f"/pools/{pool.pk}/access/"
    assert f'href="{page.rstrip("/")}"' in browser.get("/pools/").content.decode()
    assert browser.post(page, {}).status_code == 422
    assert browser.post(page, {"project": project.pk, "reason": "as agreed"}).status_code == 302
    assert "as agreed" in browser.get(page).content.decode()
    assert browser.post(page, {"project": project.pk}).status_code == 422
    row = PoolAccess.objects.get()
    assert "Quiet oceans" in browser.get(f"{page}{row.pk}/end/").content.decode()
    assert browser.post(f"{page}{row.pk}/end/", {"reason": "over"}).status_code == 302
    assert "as agreed" not in browser.get(page).content.decode()
    client = people.api_client(admin)
    address = f"/api/v1/pools/{pool.pk}/access/"
    made = client.post(address, {"project": project.pk}, format="json")
    assert (made.status_code, made.json()["project"], made.json()["area"]) == (201, project.pk, None)
    assert [line["id"] for line in client.get(address).json()["results"]] == [made.json()["id"]]
    assert client.post(f"{address}{made.json()['id']}/end/", {}, format="json").status_code == 200
    assert client.get(address).json()["results"] == []
    assert client.get("/api/v1/pools/999999/access/").status_code == 404
