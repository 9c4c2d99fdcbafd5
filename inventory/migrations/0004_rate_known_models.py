from decimal import Decimal
from typing import Any

from django.db import migrations

RATES = {
    "gb200": "2.5",
    "b200": "2.2",
    "gh200": "1.05",
    "h200-nvl": "0.95",
    "h200": "1.15",
    "h100-nvl": "0.8",
    "h100-pcie": "0.7",
    "h100": "1",
    "h800": "0.95",
    "h20": "0.2",
    "a100-40gb": "0.42",
    "a100": "0.45",
    "a800": "0.43",
    "a40": "0.17",
    "a30": "0.18",
    "a10g": "0.1",
    "a10": "0.12",
    "l40s": "0.3",
    "l40": "0.2",
    "l4": "0.1",
    "v100-32gb": "0.13",
    "v100": "0.12",
    "t4": "0.06",
    "rtx-4090": "0.2",
    "mi300x": "1.05",
}
"""As the catalogue had them when the column came; a model that is not here waits for an admin."""


def rate(apps: Any, _schema: Any) -> None:
    models = apps.get_model("inventory", "GpuModel")
    for name, suitability in RATES.items():
        models.objects.filter(name=name, suitability=0).update(suitability=Decimal(suitability))


class Migration(migrations.Migration):
    """Models that were there before get what a node that reports them now would give them."""

    dependencies = [("inventory", "0003_suitability")]

    operations = [migrations.RunPython(rate, migrations.RunPython.noop)]
