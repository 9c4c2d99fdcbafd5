"""What stands in the form at this moment, read leniently: for what is shown beside it while one types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernel.form_drafts import Data
from projects.content import missing_among
from projects.registration import typed

MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Asked:
    """One row of expected compute as far as it can be read; ``gpu_model`` is a name of the catalogue, or nothing."""

    gpu_model: str
    min: int
    target: int
    max: int


@dataclass(frozen=True, slots=True)
class Glance:
    name: str
    goal: str
    datasets: Sequence[str]
    compute: Sequence[Asked]
    missing: Mapping[str, Sequence[str]]
    """What a submission still needs, as a sentence by field."""


def glance(data: Data) -> Glance:
    """Reads nothing but the text: no statement, and no fault for what cannot be read."""
    found = typed.of_draft(data)
    fields: dict[str, str] = found["form"]
    stated = {field: bool(fields.get(field, "").strip()) for field in ("name", "goal", "stage", "breakthrough")}
    stated |= {"expected_compute": bool(found["compute"]), "milestones": bool(found["milestones"])}
    return Glance(
        name=" ".join(fields.get("name", "").split()),
        goal=fields.get("goal", "").strip(),
        datasets=[line.strip() for line in fields.get("datasets", "").splitlines() if line.strip()],
        compute=[_asked(row) for row in found["compute"]],
        missing={field: [text] for field, text in missing_among(stated).items()},
    )


def _asked(row: Mapping[str, str]) -> Asked:
    target = _number(row.get("target", ""))
    return Asked(row.get("gpu_model", ""), _number(row.get("min", "")), target, _number(row.get("max", "")) or target)


def _number(text: str) -> int:
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS else 0
