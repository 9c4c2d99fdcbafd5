"""Jobs in a dedicated pool: those of projects with access start there, and nobody else's."""

import pytest

from inventory.models import PoolKind
from quotas.services import AccessSpec, pool_close, pool_open
from scheduling.states import JobState
from scheduling.tests import factories as make

pytestmark = pytest.mark.django_db


def test_a_dedicated_pool_serves_who_was_given_access_until_it_ends() -> None:
    kept = make.pool("kept", kind=PoolKind.DEDICATED)
    make.node("alpha", gpus=4, where=kept)
    other, project = make.project(gpus=0, limit=4), make.project(gpus=0, limit=4)
    theirs, ours, later = (
        make.job(other, is_preemptible=True),
        make.job(project, is_preemptible=True),
        make.job(project, is_preemptible=True),
    )
    assert make.decide() == []
    row = pool_open(actor=make.admin(), access=AccessSpec(kept.pk, project_id=project.pk))
    pool_close(actor=make.admin(), access_id=row.pk)
    assert make.decide() == []
    pool_open(actor=make.admin(), access=AccessSpec(kept.pk, project_id=project.pk))
    assert set(make.decide()) == {ours.pk, later.pk}
    theirs.refresh_from_db()
    assert (theirs.state, theirs.reason_code) == (JobState.QUEUED, "no_such_node")


def test_access_without_a_quota_of_its_own_starts_nothing() -> None:
    kept = make.pool("kept", kind=PoolKind.DEDICATED)
    make.node("alpha", gpus=4, where=kept)
    project = make.project(gpus=0, limit=1)
    pool_open(actor=make.admin(), access=AccessSpec(kept.pk, project_id=project.pk))
    first, second = make.job(project, is_preemptible=True), make.job(project, is_preemptible=True)
    assert make.decide() == [first.pk]
    second.refresh_from_db()
    assert second.reason_code == "limit"
