"""What the rooms below may ask this one: it registers the answers when the application starts."""

from collections.abc import Iterable

from scheduling.models import MILLI
from scheduling.selectors.usage import used_now


def used_gpus(project_ids: Iterable[int] | None = None) -> dict[tuple[int, int], float]:
    """GPUs in use by project and GPU model, as quotas shows them beside guarantee and limit."""
    return {key: use.milli_gpus / MILLI for key, use in used_now(project_ids).items()}
