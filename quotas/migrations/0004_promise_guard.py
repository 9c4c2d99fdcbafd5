"""QUO3 by the database: at every instant Σ guarantees ≤ capacity − reserve and Σ emergency claims ≤ reserve.

Checked at commit for every row that could break it, whoever wrote it. The check takes the GPU model's row lock
first, so that of two commits on one model the second sees the first; FOR NO KEY UPDATE excludes the services'
FOR UPDATE and itself, but not the key-share locks of foreign keys, which would make two inserts deadlock. Only
the instants inside the changed interval are looked at. Under a snapshot older than the lock the check would be
blind, so it insists on READ COMMITTED.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION quotas_check_promises(model bigint, since timestamptz, until timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    span tstzrange := tstzrange(since, until);
    bad record;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'promises are only changed under READ COMMITTED'
            USING ERRCODE = 'invalid_transaction_state';
    END IF;
    PERFORM 1 FROM inventory_gpumodel WHERE id = model FOR NO KEY UPDATE;
    WITH rows AS (
        SELECT during, gpus::bigint AS gpus, 0::bigint AS points, 0::bigint AS promised, 0::bigint AS emergency
          FROM inventory_capacityfact WHERE gpu_model_id = model AND during && span
        UNION ALL
        SELECT during, 0, basis_points, 0, 0
          FROM inventory_reservefact WHERE gpu_model_id = model AND during && span
        UNION ALL
        SELECT during, 0, 0, CASE WHEN kind <> 'emergency' THEN guaranteed ELSE 0 END,
               CASE WHEN kind = 'emergency' THEN guaranteed ELSE 0 END
          FROM quotas_claim WHERE gpu_model_id = model AND during && span AND voided_at IS NULL
    ), changes AS (
        SELECT greatest(lower(during), since) AS at, gpus, points, promised, emergency FROM rows
        UNION ALL
        SELECT upper(during), -gpus, -points, -promised, -emergency FROM rows
         WHERE upper(during) IS NOT NULL AND (until IS NULL OR upper(during) < until)
    ), sums AS (
        SELECT at, sum(sum(gpus)) OVER w AS gpus, sum(sum(points)) OVER w AS points,
               sum(sum(promised)) OVER w AS promised, sum(sum(emergency)) OVER w AS emergency
          FROM changes GROUP BY at WINDOW w AS (ORDER BY at)
    ), ledger AS (
        SELECT at, gpus, ceil(gpus * points / 10000.0) AS reserve, promised, emergency FROM sums
    )
    SELECT at, gpus - reserve AS usable, reserve, promised, emergency INTO bad
      FROM ledger WHERE promised > gpus - reserve OR emergency > reserve ORDER BY at LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'GPU model % at %: % promised of % usable, % emergency of % reserve',
            (SELECT name FROM inventory_gpumodel WHERE id = model), bad.at,
            bad.promised, bad.usable, bad.emergency, bad.reserve
            USING ERRCODE = 'check_violation', CONSTRAINT = 'promises_within_capacity';
    END IF;
END $$;

-- The interval that a change may have made worse: the old and the new one together.
CREATE FUNCTION quotas_promise_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    span tstzrange;
BEGIN
    IF TG_OP = 'INSERT' THEN span := NEW.during;
    ELSIF TG_OP = 'DELETE' THEN span := OLD.during;
    ELSE span := range_merge(OLD.during, NEW.during);
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.gpu_model_id IS NOT NULL THEN
        PERFORM quotas_check_promises(OLD.gpu_model_id, lower(span), upper(span));
    END IF;
    IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.gpu_model_id IS DISTINCT FROM OLD.gpu_model_id) THEN
        PERFORM quotas_check_promises(NEW.gpu_model_id, lower(span), upper(span));
    END IF;
    RETURN NULL;
END $$;

-- What only frees or only adds capacity cannot break the law and takes no lock: ending or voiding a claim, a
-- new capacity fact (the reserve never grows faster than the capacity), and one that lasts longer.
CREATE CONSTRAINT TRIGGER claim_promises AFTER INSERT ON quotas_claim
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.gpu_model_id IS NOT NULL AND NEW.voided_at IS NULL AND NEW.guaranteed > 0)
    EXECUTE FUNCTION quotas_promise_guard();
CREATE CONSTRAINT TRIGGER claim_promises_longer AFTER UPDATE ON quotas_claim
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.gpu_model_id IS NOT NULL AND NEW.voided_at IS NULL
          AND NOT (NEW.during <@ OLD.during AND NEW.guaranteed <= OLD.guaranteed AND OLD.voided_at IS NULL
                   AND NEW.kind = OLD.kind AND NEW.gpu_model_id = OLD.gpu_model_id))
    EXECUTE FUNCTION quotas_promise_guard();
CREATE CONSTRAINT TRIGGER capacityfact_promises AFTER UPDATE ON inventory_capacityfact
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NOT (OLD.during <@ NEW.during AND NEW.gpus >= OLD.gpus AND NEW.gpu_model_id = OLD.gpu_model_id))
    EXECUTE FUNCTION quotas_promise_guard();
CREATE CONSTRAINT TRIGGER capacityfact_promises_less AFTER DELETE ON inventory_capacityfact
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION quotas_promise_guard();
CREATE CONSTRAINT TRIGGER reservefact_promises AFTER INSERT OR UPDATE OR DELETE ON inventory_reservefact
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION quotas_promise_guard();
"""

BACKWARD = """
DROP TRIGGER reservefact_promises ON inventory_reservefact;
DROP TRIGGER capacityfact_promises_less ON inventory_capacityfact;
DROP TRIGGER capacityfact_promises ON inventory_capacityfact;
DROP TRIGGER claim_promises_longer ON quotas_claim;
DROP TRIGGER claim_promises ON quotas_claim;
DROP FUNCTION quotas_promise_guard();
DROP FUNCTION quotas_check_promises(bigint, timestamptz, timestamptz);
"""


class Migration(migrations.Migration):
    dependencies = [("quotas", "0003_history_guard"), ("inventory", "0002_capacity_by_model")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
