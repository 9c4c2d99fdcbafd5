from django.db import migrations

CREATE = """
CREATE TABLE monitoring_gpusample (
    device_id         bigint      NOT NULL,
    at                timestamptz NOT NULL,
    utilisation_pct   double precision,
    memory_used_bytes bigint,
    power_mw          bigint,
    temperature_c     integer,
    energy_mj         bigint,
    clock_mhz         integer,
    is_simulated      boolean     NOT NULL,
    received_at       timestamptz NOT NULL,
    skew_ms           integer     NOT NULL,
    PRIMARY KEY (device_id, at)
) PARTITION BY RANGE (at)
"""


class Migration(migrations.Migration):
    """Raw samples, partitioned by day. Without a foreign key: devices are never deleted, a check per row costs."""

    dependencies = [
        ("monitoring", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(sql=CREATE, reverse_sql="DROP TABLE monitoring_gpusample"),
    ]
