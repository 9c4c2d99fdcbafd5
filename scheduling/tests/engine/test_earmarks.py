"""GPUs that earlier decisions set aside: what is kept for their owners while victims stop, and when it ends."""

import pytest

from scheduling.engine import Ask, Earmark, Entitlement, Job, JobState, Project
from scheduling.tests.engine.by_hand import a_job, decided, started
from scheduling.tests.engine.world import node, project

OWNERS = [project(number, guaranteed=8) for number in (1, 3, 4)]
AT_ITS_LIMIT = Project(2, "q2", entitlement=Entitlement(limit={"a": 500}))


def _stops(number: int, owner: int, device: int, milli: int) -> Job:
    held = {device // 100: {device: milli}}
    return a_job(number, Ask(milli), owner, state=JobState.STOPPING, gpu_model="a", placement=held)


@pytest.mark.parametrize("first", [1, 2])
def test_what_stops_on_a_gpu_set_aside_whole_is_no_part_for_another(first: int) -> None:
    """The half that stops belongs to the GPU of a gang, whoever is first; the other owner's half is kept elsewhere,
    although it cannot start before that half has stopped."""
    gang, part = a_job(1, Ask(1000, nodes=2), priority=1), a_job(2, Ask(500), 2, priority=3 - first)
    jobs = [_stops(8, 4, 200, 1000), _stops(9, 2, 100, 500), gang, part, a_job(3, Ask(1000), 3)]
    marks, owners = (Earmark(1, 1, 1000), Earmark(1, 2, 1000), Earmark(2, 1, 500)), [*OWNERS, AT_ITS_LIMIT]
    assert started(decided([node(1, 2), node(2, 1)], jobs, owners, earmarks=marks)) == {}
    assert started(decided([node(1, 3), node(2, 1)], jobs, owners, earmarks=marks)) == {3: [1]}
