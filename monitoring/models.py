"""Latest values per GPU and node. Raw samples live in day partitions (see the migration), read by selectors."""

from django.db import models

from inventory.models import Device, Node


class GpuSample(models.Model):
    """One sample of one GPU. The table is partitioned by day of ``at`` (UTC). Null is *no data*, never 0.

    Units: per cent, bytes, milliwatt, degrees Celsius, millijoule since driver load, megahertz.
    """

    pk = models.CompositePrimaryKey("device_id", "at")
    device = models.ForeignKey(Device, on_delete=models.DO_NOTHING, related_name="+")
    at = models.DateTimeField()
    utilisation_pct = models.FloatField(null=True)
    memory_used_bytes = models.BigIntegerField(null=True)
    power_mw = models.BigIntegerField(null=True)
    temperature_c = models.IntegerField(null=True)
    energy_mj = models.BigIntegerField(null=True)
    clock_mhz = models.IntegerField(null=True)
    is_simulated = models.BooleanField()
    received_at = models.DateTimeField()
    skew_ms = models.IntegerField()

    class Meta:
        managed = False
        db_table = "monitoring_gpusample"


class GpuLatest(models.Model):
    """The newest sample of each GPU."""

    device = models.OneToOneField(Device, on_delete=models.PROTECT, primary_key=True, related_name="latest")
    at = models.DateTimeField()
    utilisation_pct = models.FloatField(null=True)
    memory_used_bytes = models.BigIntegerField(null=True)
    power_mw = models.BigIntegerField(null=True)
    temperature_c = models.IntegerField(null=True)
    energy_mj = models.BigIntegerField(null=True)
    clock_mhz = models.IntegerField(null=True)
    is_simulated = models.BooleanField()


class HostLatest(models.Model):
    """The newest host values of each node."""

    node = models.OneToOneField(Node, on_delete=models.PROTECT, primary_key=True, related_name="host_latest")
    at = models.DateTimeField()
    cpu_pct = models.FloatField(null=True)
    memory_used_bytes = models.BigIntegerField(null=True)
    disk_used_bytes = models.BigIntegerField(null=True)
    network_rx_bytes = models.BigIntegerField(null=True)
    network_tx_bytes = models.BigIntegerField(null=True)
    is_simulated = models.BooleanField()
