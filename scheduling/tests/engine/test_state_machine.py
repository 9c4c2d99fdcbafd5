"""Whatever happens to a cluster, and in whatever order, every decision keeps every law."""

from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from kernel.tests.examples import examples
from scheduling.engine import Ask, Entitlement, Group, JobState, NodeState, Policy, Project, Window
from scheduling.tests.engine.world import GPUS, World, node

MODELS = ("a", "b")
PROJECTS = (1, 2, 3, 4)
GROUP, INNER = 10, 11

asks = st.one_of(
    st.builds(
        Ask,
        milli=st.sampled_from([250, 500, 1000, 1000, 2000, 4000]),
        gpu_models=st.sampled_from([frozenset(), frozenset({"a"}), frozenset({"a"}), frozenset(MODELS)]),
        cpus=st.sampled_from([0, 0, 3, 8]),
        memory_bytes=st.sampled_from([0, 0, 40]),
        is_exclusive=st.sampled_from([False] * 9 + [True]),
        shares_device=st.booleans(),
    ),
    st.builds(
        Ask, milli=st.sampled_from([1000, 2000]), nodes=st.sampled_from([2, 3]), gpu_models=st.just(frozenset("a"))
    ),
    st.builds(Ask, milli=st.just(0), cpus=st.sampled_from([1, 8])),
)
amounts = st.fixed_dictionaries({}, optional={model: st.integers(0, 6).map(lambda n: n * GPUS) for model in MODELS})
entitlements = st.builds(
    Entitlement,
    guaranteed=amounts,
    limit=st.one_of(st.just({}), amounts),
    weight=st.sampled_from([Fraction(0), Fraction(1), Fraction(1), Fraction(3)]),
    rank=st.integers(0, 2),
    past_use=st.fixed_dictionaries({"a": st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(9, 10)])}),
)
windows = st.builds(
    Window,
    id=st.uuids().map(str),
    project=st.sampled_from(PROJECTS),
    gpu_model=st.just("a"),
    milli=st.sampled_from([GPUS, 3 * GPUS]),
    start=st.sampled_from([0, 100, 1100]),
    end=st.sampled_from([150, 1200, 90_000]),
)


class Cluster(RuleBasedStateMachine):
    """Four nodes of two models, four projects, two of them in groups."""

    @initialize(
        grants=st.lists(entitlements, min_size=6, max_size=6),
        reserve=st.sampled_from([{}, {}, {"a": 2 * GPUS}]),
        cpus=st.sampled_from([None, 10]),
        starvation=st.sampled_from([60, 1800]),
        windows=st.lists(windows, max_size=3),
        filled_with=st.sampled_from([None, 500, 1000, 1000, 2000]),
    )
    def build(
        self,
        grants: list[Entitlement],
        reserve: dict[str, int],
        cpus: int | None,
        starvation: int,
        windows: list[Window],
        filled_with: int | None,
    ) -> None:
        """``filled_with``: at first the last project, to which nothing is due, has all of it with jobs of this size."""
        if filled_with is not None:
            grants = [*grants[:4], Entitlement(weight=Fraction(0)), grants[5]]
        self.world = World.of(
            [node(1, 4, cpus=cpus), node(2, 4, memory_bytes=64), node(3, 2), node(4, 4, "b", cpus=cpus)],
            [
                Project(
                    number,
                    f"q{number}",
                    group={1: INNER, 2: INNER, 3: GROUP}.get(number),
                    entitlement=grants[number],
                    cpu_limit=cpus and 12,
                )
                for number in PROJECTS
            ],
            [Group(GROUP, "area", None, grants[0]), Group(INNER, "part", GROUP, grants[5])],
            reserve=reserve,
            windows=tuple(windows),
            policy=Policy(starvation_after_s=starvation, grace_s=30),
        )
        for _job in range(14_000 // filled_with if filled_with else 0):
            self.world.submit(4, Ask(filled_with or 0), is_preemptible=True)
        self.world.step()

    @rule(
        owner=st.sampled_from(PROJECTS),
        ask=asks,
        fields=st.fixed_dictionaries(
            {
                "priority": st.integers(0, 2),
                "is_preemptible": st.sampled_from([True, True, False]),
                "max_runtime_s": st.sampled_from([None, 50, 500]),
                "min_runtime_s": st.sampled_from([0, 0, 100]),
                "is_emergency": st.sampled_from([False, False, False, True]),
            }
        ),
        copies=st.integers(1, 3),
    )
    def submit(self, owner: int, ask: Ask, fields: dict[str, Any], copies: int) -> None:
        for _copy in range(copies):
            self.world.submit(owner, ask, **fields)
        self.world.step()

    @precondition(lambda self: self._has(JobState.RUNNING))
    @rule(data=st.data(), how=st.sampled_from(["end", "fail", "save"]))
    def run_goes_on(self, data: st.DataObject, how: str) -> None:
        number = data.draw(st.sampled_from(self.world.numbers(JobState.RUNNING)))
        if how == "end":
            self.world.end(number)
        elif how == "save":
            self.world.save(number)
        else:
            self.world.queue_again(number, not_before=self.world.now + 30)
        self.world.step()

    @precondition(lambda self: self._has(JobState.STOPPING))
    @rule(data=st.data(), is_gone=st.booleans())
    def stop_ends(self, data: st.DataObject, is_gone: bool) -> None:
        number = data.draw(st.sampled_from(self.world.numbers(JobState.STOPPING)))
        if is_gone:
            self.world.end(number)
        else:
            self.world.queue_again(number)
        self.world.step()

    @precondition(lambda self: self._has(JobState.QUEUED))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.world.end(data.draw(st.sampled_from(self.world.numbers(JobState.QUEUED))))
        self.world.step()

    @rule(number=st.integers(1, 4), state=st.sampled_from([*NodeState, NodeState.UP, NodeState.UP]))
    def node_changes(self, number: int, state: NodeState) -> None:
        self.world.set_state(number, state)
        self.world.step()

    @rule(number=st.sampled_from(PROJECTS), entitlement=entitlements)
    def quota_changes(self, number: int, entitlement: Entitlement) -> None:
        self.world.grant(number, entitlement)
        self.world.step()

    @rule(seconds=st.sampled_from([1, 31, 61, 130, 1000, 86_400]))
    def time_passes(self, seconds: float) -> None:
        self.world.now += seconds
        self.world.step()

    def _has(self, state: JobState) -> bool:
        return hasattr(self, "world") and bool(self.world.numbers(state))


Cluster.TestCase.settings = settings(
    derandomize=True,  # the same histories everywhere; a longer search is a matter of its own
    max_examples=examples(80),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestCluster = Cluster.TestCase
