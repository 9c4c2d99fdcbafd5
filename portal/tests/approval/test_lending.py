"""Who loses borrowed GPUs, against worlds that are reckoned by hand."""

from portal.pages.approval.evidence.lending import Lending, Project, Running, lending

ASKER = 1
LOW, MID, HIGH = 1, 2, 3


def job(pk: int, gpus: float, *, is_preemptible: bool = True, **more: int) -> Running:
    return Running(pk, round(gpus * 1000), is_preemptible, **more)


def project(pk: int, rank: int, guaranteed: int, *jobs: Running) -> Project:
    return Project(pk, rank, guaranteed, jobs)


def told(found: Lending) -> list[tuple[int, float, float, list[int]]]:
    """By project: what it borrows, what it borrows after, its jobs that stop."""
    return [(row.project_id, row.borrows, row.after, [one.id for one in row.stopped]) for row in found.losses]


def test_nobody_loses_while_free_gpus_suffice() -> None:
    others = project(2, LOW, 0, job(20, 8))
    found = lending([project(ASKER, MID, 4, job(10, 4)), others], free_milli=8000, asker_id=ASKER, asked=12)
    assert (found.needed, found.unmet, told(found)) == (0, 0, [(2, 8, 8, [])])
    assert not found.losers


def test_the_least_rank_loses_first_however_little_it_borrows() -> None:
    rows = [project(2, HIGH, 0, job(20, 16)), project(3, LOW, 4, job(30, 4), job(31, 4))]
    found = lending(rows, free_milli=0, asker_id=ASKER, asked=4)
    assert told(found) == [(3, 4, 0, [30]), (2, 16, 16, [])]


def test_of_one_rank_the_one_most_above_its_guarantee_loses_again_and_again() -> None:
    rows = [
        project(2, MID, 0, job(20, 4), job(21, 4), job(22, 4)),
        project(3, MID, 8, job(30, 4), job(31, 4), job(32, 4), job(33, 4)),
    ]
    found = lending(rows, free_milli=0, asker_id=ASKER, asked=12)
    # 12 and 8 above: the first gives 4, then both are at 8 and the smaller id gives, then the other.
    assert told(found) == [(2, 12, 4, [20, 21]), (3, 8, 4, [30])]


def test_inside_a_project_lowest_priority_least_work_lost_most_recent() -> None:
    jobs = (
        Running(1, 1000, True, priority=5, lost_s=0),
        Running(2, 1000, True, priority=0, lost_s=900),
        Running(3, 1000, True, priority=0, lost_s=100, started_order=1),
        Running(4, 1000, True, priority=0, lost_s=100, started_order=2),
    )
    order = [lending([Project(2, LOW, 0, jobs)], 0, ASKER, asked).losses[0].stopped for asked in (1, 2, 3, 4)]
    assert [[one.id for one in stopped] for stopped in order] == [[4], [4, 3], [4, 3, 2], [4, 3, 2, 1]]


def test_whole_jobs_stop_and_one_that_is_not_needed_is_spared() -> None:
    rows = [project(2, LOW, 0, job(20, 2)), project(3, MID, 0, job(30, 8))]
    found = lending(rows, free_milli=0, asker_id=ASKER, asked=6)
    # 2 do not suffice, 8 do: with them gone the 2 are not needed any more.
    assert told(found) == [(3, 8, 0, [30]), (2, 2, 2, [])]
    assert (found.stopped_jobs, found.stopped_gpus, found.difference) == (1, 8, -8)


def test_within_its_guarantee_nobody_is_a_victim() -> None:
    rows = [project(2, LOW, 8, job(20, 8)), project(3, LOW, 0, job(30, 4, is_preemptible=False))]
    found = lending(rows, free_milli=0, asker_id=ASKER, asked=10)
    assert (found.needed, found.unmet) == (10, 10)
    assert told(found) == [(3, 4, 4, [])]


def test_what_it_borrows_itself_it_need_not_take_from_others() -> None:
    rows = [project(ASKER, LOW, 4, job(10, 12)), project(2, LOW, 0, job(20, 8))]
    found = lending(rows, free_milli=0, asker_id=ASKER, asked=12)
    assert (found.needed, told(found)) == (0, [(2, 8, 8, [])])


def test_more_in_use_than_there_is_frees_nothing() -> None:
    found = lending([project(2, LOW, 0, job(20, 8))], free_milli=-5000, asker_id=ASKER, asked=4)
    assert (found.needed, found.unmet, found.losses[0].after) == (4, 0, 0)


def test_parts_of_gpus_are_counted() -> None:
    found = lending([project(2, LOW, 0, job(20, 0.5), job(21, 1))], free_milli=0, asker_id=ASKER, asked=1)
    assert told(found) == [(2, 1.5, 0.5, [21])]
