"""Series as plain data: all columns for programs, and the asked measure as a chart takes it."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from inventory.models import Device
from kernel.errors import Invalid
from monitoring.engine.series import Series
from monitoring.selectors.latest import GpuReading

GIB = 1 << 30
MEASURES = ("utilisation", "memory", "power")
Column = list[float | None]


def measure_asked(asked: Mapping[str, str]) -> str:
    """Which measure ``series`` shows; ``columns`` always holds all."""
    measure = asked.get("measure") or "utilisation"
    if measure not in MEASURES:
        text = _("“%(value)s” is not one of %(allowed)s")
        raise Invalid({"measure": text % {"value": measure[:40], "allowed": ", ".join(MEASURES)}})
    return measure


def present(series: Series, measure: str) -> dict[str, Any]:
    """``start``, ``end``, ``step_s``, one entry per step in each column; null is a gap."""
    return {
        "start": series.window.start,
        "end": series.window.end,
        "step_s": series.window.step_s,
        "mean_utilisation_pct": _rounded(series.mean_pct, 2),
        "samples": sum(series.n),
        "columns": {
            "utilisation_pct": [_rounded(value, 2) for value in series.utilisation_pct],
            "lowest_gpu_pct": [_rounded(value, 2) for value in series.low_pct],
            "highest_gpu_pct": [_rounded(value, 2) for value in series.high_pct],
            "memory_used_bytes": series.memory_used_bytes,
            "power_w": [_rounded(value, 1) for value in series.power_w],
            "gpus": series.gpus,
            "samples": series.n,
        },
        "measure": measure,
        **_chart(series, measure),
    }


def present_gpu(device: Device, reading: GpuReading | None, series: Series | None, measure: str) -> dict[str, Any]:
    """One GPU with its newest values, null where they are not known, and its series if there is one."""
    row = {
        "id": device.pk,
        "uuid": device.uuid,
        "index": device.index,
        "node": device.node.name,
        "node_id": device.node_id,
        "gpu_model": device.gpu_model.name,
        "state": device.state,
        "is_simulated": device.is_simulated,
        "last_sample_at": reading.at if reading else None,
        "is_stale": reading.is_stale if reading else True,
        "utilisation_pct": reading.utilisation_pct if reading else None,
        "memory_used_bytes": reading.memory_used_bytes if reading else None,
        "memory_bytes": device.memory_bytes,
        "power_w": reading.power_mw / 1000 if reading and reading.power_mw is not None else None,
        "temperature_c": reading.temperature_c if reading else None,
        "clock_mhz": reading.clock_mhz if reading else None,
    }
    if series is not None:
        row["series"] = {**present(series, measure), "is_simulated": device.is_simulated}
    return row


def _chart(series: Series, measure: str) -> dict[str, Any]:
    if measure == "memory":
        highest: Column = [None if value is None else round(value / GIB, 2) for value in series.memory_used_bytes]
        return {"unit": "GiB", "max": None, "series": [_line(_("Highest GPU"), highest)]}
    if measure == "power":
        power: Column = [_rounded(value, 1) for value in series.power_w]
        return {"unit": "W", "max": None, "series": [_line(_("All GPUs"), power)]}
    mean: Column = [_rounded(value, 2) for value in series.utilisation_pct]
    return {"unit": "%", "max": 100, "series": [_line(_("Mean"), mean)]}


def _line(label: str, values: Column) -> dict[str, Any]:
    return {"label": label, "values": values}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
