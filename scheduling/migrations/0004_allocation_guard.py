"""The database's own word on devices and charges: no device over 1000 milli-GPU, an allocation changes once, by its
release, and a charge never."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION scheduling_allocation_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    held bigint;
BEGIN
    IF TG_OP IN ('DELETE', 'TRUNCATE') THEN
        RAISE EXCEPTION 'device allocations are history: % refused', TG_OP
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF OLD.released_at IS NOT NULL OR NEW.released_at IS NULL OR
           (OLD.id, OLD.member_id, OLD.device_id, OLD.milli, OLD.allocated_at) IS DISTINCT FROM
           (NEW.id, NEW.member_id, NEW.device_id, NEW.milli, NEW.allocated_at) THEN
            RAISE EXCEPTION 'device allocation % changes only by its release, once', OLD.id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.released_at IS NULL THEN
        -- Two transactions that take parts of one device wait for each other here; the sum below is read after.
        PERFORM 1 FROM inventory_device WHERE id = NEW.device_id FOR NO KEY UPDATE;
        SELECT COALESCE(SUM(milli), 0) INTO held FROM scheduling_deviceallocation
            WHERE device_id = NEW.device_id AND released_at IS NULL;
        IF held + NEW.milli > 1000 THEN
            RAISE EXCEPTION 'device % holds % milli-GPU: % more is too much', NEW.device_id, held, NEW.milli
                USING ERRCODE = 'check_violation', CONSTRAINT = 'deviceallocation_whole_device';
        END IF;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER allocation_guard_rows BEFORE INSERT OR UPDATE OR DELETE ON scheduling_deviceallocation
    FOR EACH ROW EXECUTE FUNCTION scheduling_allocation_guard();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON scheduling_deviceallocation
    FOR EACH STATEMENT EXECUTE FUNCTION scheduling_allocation_guard();
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON scheduling_charge
    FOR EACH ROW EXECUTE FUNCTION sluice_append_only();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON scheduling_charge
    FOR EACH STATEMENT EXECUTE FUNCTION sluice_append_only();
ALTER TABLE scheduling_deviceallocation ENABLE ALWAYS TRIGGER allocation_guard_rows;
ALTER TABLE scheduling_deviceallocation ENABLE ALWAYS TRIGGER append_only_table;
ALTER TABLE scheduling_charge ENABLE ALWAYS TRIGGER append_only_rows;
ALTER TABLE scheduling_charge ENABLE ALWAYS TRIGGER append_only_table;
"""

BACKWARD = """
DROP TRIGGER append_only_rows ON scheduling_charge;
DROP TRIGGER append_only_table ON scheduling_charge;
DROP TRIGGER allocation_guard_rows ON scheduling_deviceallocation;
DROP TRIGGER append_only_table ON scheduling_deviceallocation;
DROP FUNCTION scheduling_allocation_guard();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0001_initial"),
        ("kernel", "0002_append_only"),
        ("scheduling", "0003_charge_once"),
    ]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
