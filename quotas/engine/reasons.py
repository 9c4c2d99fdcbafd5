"""Why each project gets what it gets, as data and as one sentence.

A reason that says what would give more is derived from the optimum itself: a capacity with a price at the project's
bottleneck, or a bound of its own whose rise would let it attain more than it was settled at.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from quotas.engine.fairness import Bottleneck, Shares
from quotas.engine.instance import Instance, Project
from quotas.engine.movement import Moved
from quotas.engine.plan import Reason, Why, written
from quotas.engine.program import Floats, Program

_SEEN = 1e-6
"""Differences of effective GPUs below this are not spoken of."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that was found out on the way to the whole GPUs, for who explains it."""

    instance: Instance
    program: Program
    shares: Shares
    moved: Moved
    gpus: Floats


def summary_of(answer: Answer, place: int) -> str:
    """What the project at this place gets of its full request, in one sentence."""
    scale = float(answer.program.scale[place])
    full, exact = float(answer.program.full[place]) * scale, float(answer.shares.effective[place]) * scale
    if full <= 0:
        return "It asks for nothing that it could use."
    if exact >= full * (1 - _SEEN):
        return f"Its fair share is all that it asks for: {full:.6g} effective GPUs."
    return f"Its fair share is {exact:.6g} of the {full:.6g} effective GPUs that it asks for, {exact / full:.0%}."


def reasons_of(answer: Answer) -> list[tuple[Reason, ...]]:
    """By project, in their order."""
    explained = _Explained.of(answer)
    return [
        tuple(explained.reasons(place, project)) or tuple(explained.none_left(place))
        for place, project in enumerate(answer.instance.projects)
    ]


@dataclass(frozen=True, slots=True)
class _Explained:
    answer: Answer
    blocked_at: dict[int, Bottleneck]
    first: list[int]
    effective: Floats
    floor: Floats
    prices: Floats

    @classmethod
    def of(cls, answer: Answer) -> "_Explained":
        program = answer.program
        return cls(
            answer,
            {int(place): found for found in answer.shares.bottlenecks for place in found.blocked},
            program.first_pairs(),
            program.effective(answer.gpus),
            program.effective(program.least),
            answer.shares.first_prices(),
        )

    def reasons(self, place: int, project: Project) -> Iterator[Reason]:
        program = self.answer.program
        if not self.answer.instance.rules.guarantee[project.tier]:
            text = f"Tier “{project.tier}” has no guarantee: this is what idle GPUs are expected to give."
            yield Reason(Why.TIER_WITHOUT_GUARANTEE, text)
        yield from self._fixed(place, project)
        if program.full[place] <= 0:
            yield Reason(Why.NO_SUITABLE_MODEL, "No GPU model that the project asks for is suitable for it.")
            return
        yield from self._held_back(place, project)
        yield from self._changed(place, project)

    def _fixed(self, place: int, project: Project) -> Iterator[Reason]:
        """Pins, floors that are cut, and floors that are all the project gets of a model."""
        program, shares = self.answer.program, self.answer.shares
        is_at_floor = shares.effective[place] <= self.floor[place] + _SEEN
        for pair in range(self.first[place], self.first[place + 1]):
            name, least = self._model(pair), int(program.least[pair])
            if name in project.pinned:
                kept = f", of which {least} can be had" if least < project.pinned[name] else ""
                text = f"A director has set {name} to {project.pinned[name]} GPUs{kept}."
                yield Reason(Why.PINNED, text, name, {"gpus": project.pinned[name]})
            elif least < project.models[name].min:
                text = f"The floor of {project.models[name].min} GPUs of {name} is cut to {least}; others come first."
                yield Reason(Why.FLOOR, text, name, {"gpus": least})
            elif least and (is_at_floor or self.answer.gpus[pair] <= least):
                text = f"The floor of {least} GPUs of {name} is kept; the fair share would not give more."
                yield Reason(Why.FLOOR, text, name, {"gpus": least})

    def _held_back(self, place: int, project: Project) -> Iterator[Reason]:
        """What would give more.

        Movement may have left a project more than its share; a higher bound of its own then promises nothing.
        """
        claims = self.answer.shares.claims
        yield from self._behind_floors(place, project)
        gain = self.answer.program.models * project.granularity
        has_more = self.answer.moved.entitlement[place] > self.answer.shares.effective[place] + _SEEN
        if place in claims.total and not has_more:
            text = f"The project's total of {project.max_total} GPUs is reached; a higher total would give more."
            yield Reason(Why.TOTAL_CAP, text, None, {"gpus": project.max_total, "raise_by": gain})
        for pair in range(self.first[place], self.first[place + 1]):
            name, most = self._model(pair), int(self.answer.program.most[pair])
            if pair in claims.own and name not in project.pinned and not has_more:
                text = f"The request of at most {most} GPUs of {name} is reached; a higher one would give more."
                yield Reason(Why.OWN_CAP, text, name, {"gpus": most, "raise_by": gain})
            if pair in claims.capacity:
                yield self._used_up(place, pair)

    def _used_up(self, place: int, pair: int) -> Reason:
        """At the project's own level, or before."""
        found, model, name = self.blocked_at.get(place), self.answer.program.model[pair], self._model(pair)
        if found is not None and found.prices[model] > 0:
            price = float(found.prices[model])
            text = (
                f"{name} is used up at this level; one more GPU of it would raise the level of all who are held "
                f"back with this project by {price:.3g}."
            )
        else:
            price = float(self.prices[model])
            text = f"{name} is used up by who has a lower level or comes first; more of it would reach this project."
        return Reason(Why.CAPACITY, text, name, {"price": written(price)})

    def _behind_floors(self, place: int, project: Project) -> Iterator[Reason]:
        """Models whose floors are cut: of these nothing can be promised, but that is why the project has so little."""
        program = self.answer.program
        if self.answer.shares.effective[place] >= program.full[place] - _SEEN:
            return
        for pair in range(self.first[place], self.first[place + 1]):
            name = self._model(pair)
            is_behind = program.is_cut[program.model[pair]] and program.most[pair] > program.least[pair]
            if is_behind and program.suitability[pair] > 0 and program.least[pair] >= project.models[name].min:
                text = f"Some floors of {name} could not be kept; what there is of it goes to floors first."
                yield Reason(Why.FLOOR, text, name, {"gpus": int(program.least[pair])})

    def none_left(self, place: int) -> Iterator[Reason]:
        """Of a project that nothing else explains: who comes first, or has a lower level, needs all of its models."""
        program, gpus = self.answer.program, self.answer.moved.gpus
        if self.answer.shares.effective[place] >= program.full[place] * (1 - _SEEN):
            return
        pairs = range(self.first[place], self.first[place + 1])
        usable = [pair for pair in pairs if program.suitability[pair] > 0 and program.most[pair] > program.least[pair]]
        for pair in [pair for pair in usable if gpus[pair] < program.most[pair] - _SEEN] or usable:
            text = f"{self._model(pair)} is used up by who has a lower level or comes first: no more of it is left."
            yield Reason(Why.NO_SUITABLE_MODEL, text, self._model(pair))

    def _changed(self, place: int, project: Project) -> Iterator[Reason]:
        """Where the whole GPUs differ from the exact share."""
        exact, entitled = self.answer.shares.effective[place], self.answer.moved.entitlement[place]
        scale = float(self.answer.program.scale[place])
        if entitled < exact * (1 - _SEEN) - _SEEN:
            text = (
                f"{(exact - entitled) * scale:.3g} effective GPUs less than the exact share, so that fewer GPUs move."
            )
            yield Reason(
                Why.MOVEMENT, text, None, {"exact": written(exact * scale), "entitlement": written(entitled * scale)}
            )
        if self.effective[place] < entitled - _SEEN:
            short = float(entitled - self.effective[place]) * scale
            text = f"GPUs are given in steps of {project.granularity}; {short:.3g} effective GPUs are lost to that."
            yield Reason(Why.GRANULARITY, text, None, {"granularity": project.granularity, "short": written(short)})

    def _model(self, pair: int) -> str:
        return self.answer.instance.gpu_models[int(self.answer.program.model[pair])].name
