"""From registrations, tiers and the table to an instance that the solver takes."""

from quotas.engine.building import DEFAULT_RULES, DEFAULT_TABLE, Registered, Requested, Share, Table, build
from quotas.engine.instance import Ask, GpuModel
from quotas.engine.reading import read
from quotas.engine.solving import solve

_H100 = GpuModel("h100", 512, 32)


def _registered(name: str = "a", tier: str = "high", stage: str = "training", **wants: Requested) -> Registered:
    return Registered(name, tier, 60.0, stage, wants or {"h100": Requested(32, 48, 64, 1.0)})


def _only(project: Registered, table: Table = DEFAULT_TABLE) -> dict[str, Ask]:
    return dict(build((project,), (_H100,), table, DEFAULT_RULES).projects[0].models)


def test_the_table_scales_floor_and_cap() -> None:
    assert _only(_registered()) == {"h100": Ask(32, 64, 1.0, 0)}
    assert _only(_registered(tier="mid")) == {"h100": Ask(16, 32, 1.0, 0)}
    assert _only(_registered(tier="low")) == {"h100": Ask(0, 16, 1.0, 0)}


def test_caps_round_up_to_a_granule_and_floors_down() -> None:
    assert _only(_registered(h100=Requested(3, 4, 5, 1.0)))["h100"] == Ask(0, 8, 1.0, 0)


def test_what_was_idle_counts_by_what_was_busy() -> None:
    idle = Requested(8, 32, 64, 1.0, previous=64, used=10.0)
    assert _only(_registered(stage="exploration", h100=idle))["h100"].max == 8
    busy = Requested(8, 32, 64, 1.0, previous=64, used=40.0)
    assert _only(_registered(stage="exploration", h100=busy))["h100"].max == 32
    unknown = Requested(8, 32, 64, 1.0, previous=64)
    assert _only(_registered(stage="exploration", h100=unknown))["h100"].max == 32


def test_who_is_in_no_cell_and_models_that_are_not_there_get_nothing() -> None:
    assert _only(_registered(), Table({}))["h100"] == Ask(0, 0, 1.0, 0)
    assert _only(_registered(b200=Requested(1, 2, 3, 1.0))) == {}


def test_pins_are_whole_granules() -> None:
    project = Registered("a", "high", 60.0, "training", {"h100": Requested(8, 8, 8, 1.0)}, {"h100": 20, "x": 8})
    assert build((project,), (_H100,), DEFAULT_TABLE, DEFAULT_RULES).projects[0].pinned == {"h100": 16}


def test_a_floor_never_passes_its_cap() -> None:
    table = Table({("training", "high"): Share(1.0, 0.1, 1)})
    assert _only(_registered(), table)["h100"] == Ask(7, 7, 1.0, 0)


def test_high_tier_training_gets_most_of_the_training_gpus() -> None:
    """An organisation of three hundred, a third of it training, that asks for twice what there is."""
    stages = ("exploration", "training", "production")
    tiers = ("high", "mid", "mid", "low")
    projects = tuple(
        _registered(f"p{place:03d}", tiers[place % 4], stages[place % 3], h100=Requested(16, 32, 64, 1.0))
        for place in range(300)
    )
    instance = build(projects, (GpuModel("h100", 4000, 320),), DEFAULT_TABLE, DEFAULT_RULES)
    given = {row.project: row.gpus for row in solve(instance).plan.quotas}
    training = [project for project in projects if project.stage == "training"]
    high = sum(given.get(project.id, 0) for project in training if project.tier == "high")
    assert high >= 0.6 * sum(given.get(project.id, 0) for project in training)


def test_what_is_built_can_be_read() -> None:
    built = build((_registered(),), (_H100,), DEFAULT_TABLE, DEFAULT_RULES)
    assert read(built.document()) == built
