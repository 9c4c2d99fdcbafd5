"""The law of the ledger as a guard round an act that changes capacity, reserve or a pool's claim."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from inventory.models import GpuModel
from kernel.calendar import organisation_zone
from kernel.formats import number, said_instant
from kernel.intervals import Interval
from quotas.errors import PromisesExceed
from quotas.ledger import broken
from quotas.selectors import model_facts


@contextmanager
def promises_kept(gpu_model_ids: Iterable[int], since: datetime) -> Iterator[None]:
    """Undo the act and raise ``PromisesExceed`` if, from ``since`` on, more is promised than would be left.

    The caller holds the locks of these GPU models.
    """
    ids, within = sorted(set(gpu_model_ids)), Interval(since)
    with transaction.atomic():
        yield
        facts = model_facts(ids, within)
        for pk in ids:
            step = broken(facts[pk], within)
            if step is None:
                continue
            model = GpuModel.objects.get(pk=pk)
            at = said_instant(step.at, organisation_zone())
            if step.free < 0:
                text = _("%(model)s: on %(at)s %(promised)s GPUs are promised, %(usable)s would be usable.")
            else:
                text = _("%(model)s: on %(at)s %(promised)s emergency GPUs are out, %(usable)s would be in reserve.")
            is_ordinary = step.free < 0
            promised, usable = (step.promised, step.usable) if is_ordinary else (step.emergency, step.reserve)
            words = text % {"model": model.title, "at": at, "promised": number(promised), "usable": number(usable)}
            data = {"gpu_model": model.name, "at": step.at.isoformat(), "promised": promised, "usable": usable}
            raise PromisesExceed(words, data=data)
