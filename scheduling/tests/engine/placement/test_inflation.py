"""The inflation experiment on clusters small enough to count by hand, and the reading of its trace."""

from collections import Counter

import pytest

from scheduling.engine.model import Ask
from scheduling.engine.replay.inflation import arrivals, run_inflation
from scheduling.engine.replay.openb import TraceJob, read_jobs, read_nodes
from scheduling.engine.room import Room, Spot

NODES = """sn,cpu_milli,memory_mib,gpu,model
n0,8000,1024,2,T4
n1,4000,1024,0,
"""
JOBS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,2000,512,1,460,T4|V100M16,LS,Running,10,70,12
p1,1000,256,2,1000,,LS,Running,20,,25
p2,1000,256,0,0,,LS,Pending,,,
"""


def trace(*millis: int) -> list[TraceJob]:
    return [TraceJob(f"j{at}", Ask(milli, cpus=1)) for at, milli in enumerate(millis)]


def one_node(cpu_milli: int = 1000) -> str:
    return f"sn,cpu_milli,memory_mib,gpu,model\nn0,{cpu_milli},1,2,T4\n"


def test_reads_nodes() -> None:
    first, second = read_nodes(NODES.splitlines())
    assert (first.name, first.cpus, first.memory_bytes) == ("n0", 8000, 1 << 30)
    assert [device.gpu_model for device in first.devices] == ["T4", "T4"]
    assert second.devices == ()


def test_reads_jobs_with_times_and_without() -> None:
    first, second, third = read_jobs(JOBS.splitlines())
    assert first.ask == Ask(460, gpu_models=frozenset({"T4", "V100M16"}), cpus=2000, memory_bytes=512 << 20)
    assert (first.submitted_at, first.duration_s) == (10, 60)
    assert (second.ask.milli, second.submitted_at, second.duration_s) == (2000, 20, None)
    assert (third.ask.milli, third.submitted_at, third.duration_s) == (0, None, None)
    (bare,) = read_jobs(["name,cpu_milli,memory_mib,num_gpu,gpu_milli", "p,1,1,1,1000"])
    assert bare == TraceJob("p", Ask(1000, cpus=1, memory_bytes=1 << 20))


def test_a_broken_row_is_refused() -> None:
    with pytest.raises(ValueError, match="many"):
        read_nodes(["sn,cpu_milli,memory_mib,gpu,model", "n0,1,1,many,T4"])
    with pytest.raises(KeyError):
        read_jobs(["name,cpu_milli", "p0,1"])


def test_everything_fits_until_the_cluster_is_full() -> None:
    """Two GPUs, jobs of one: the third arrival, at 150 per cent, is dropped."""
    result = run_inflation(read_nodes(one_node().splitlines()), trace(1000, 1000), seed=0)
    assert result.rates == {50: 50, 100: 100, 150: 100}
    assert (result.arrivals, result.dropped) == (3, 1)
    assert result.allocation_rate_at_100 == 100


def test_parts_strand_what_is_too_small() -> None:
    """Three jobs of 0.6 on two GPUs: the third fits nowhere; no arrival is nearer to 100 than the one at 90."""
    result = run_inflation(read_nodes(one_node().splitlines()), trace(600, 600, 600), seed=1)
    assert result.rates == {30: 30, 60: 60, 90: 60, 120: 60, 150: 60}
    assert result.allocation_rate_at_100 == 60


def test_jobs_without_gpus_take_cpu_and_a_dropped_one_is_not_tried_again() -> None:
    """One core: the job without a GPU leaves none for the other, or the other way round."""
    jobs = [TraceJob("a", Ask(0, cpus=1000)), TraceJob("b", Ask(2000, cpus=1000))]
    rates = {}
    for seed in range(8):
        result = run_inflation(read_nodes(one_node().splitlines()), jobs, seed)
        assert result.dropped == result.arrivals - 1
        rates[arrivals([job.ask for job in jobs], 2000, seed)[0].milli] = result.allocation_rate_at_100
    # The job without a GPU comes at 100 per cent, too, or at 0.
    assert rates == {0: 0, 2000: 100}


def test_another_placer_may_choose() -> None:
    seen = []

    def nowhere(room: Room, ask: Ask, project: int) -> Spot | None:
        seen.append(ask)
        return None

    result = run_inflation(read_nodes(one_node().splitlines()), trace(2000), seed=0, placer=nowhere)
    assert (result.dropped, result.arrivals, result.rates) == (2, 2, {100: 0, 200: 0})
    assert seen == [Ask(2000, cpus=1)] * 2


def test_the_order_of_the_file_does_not_matter() -> None:
    orders: list[list[Ask]] = []
    for jobs in (trace(1000, 500, 250, 125), trace(1000, 500, 250, 125)[::-1]):
        seen: list[Ask] = []

        def nowhere(room: Room, ask: Ask, project: int, seen: list[Ask] = seen) -> Spot | None:
            seen.append(ask)
            return None

        run_inflation(read_nodes(one_node().splitlines()), jobs, seed=0, placer=nowhere)
        orders.append(seen)
    assert orders[0] == orders[1]
    assert len(orders[0]) > 4


def test_a_first_job_larger_than_the_cluster_counts_as_it_comes() -> None:
    result = run_inflation(read_nodes(one_node().splitlines()), trace(4000), seed=0)
    assert result.allocation_rate_at_100 == 0


def test_arrivals_are_the_jobs_shuffled_then_drawn_again() -> None:
    asks = [Ask(100 * number) for number in range(1, 6)]
    first = arrivals(asks, 3000, seed=3)
    assert Counter(first[:5]) == Counter(asks)
    assert sum(ask.milli for ask in first[:-1]) < 3900 <= sum(ask.milli for ask in first)
    assert first == arrivals(asks, 3000, seed=3) != arrivals(asks, 3000, seed=4)


@pytest.mark.parametrize(("asks", "total"), [([Ask(0)], 1000), ([], 1000), ([Ask(1000)], 0)])
def test_without_gpus_there_is_nothing_to_measure(asks: list[Ask], total: int) -> None:
    with pytest.raises(ValueError, match="there must be GPUs"):
        arrivals(asks, total, seed=0)
