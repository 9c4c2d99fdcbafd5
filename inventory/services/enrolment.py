"""A node joins by a one-time token (OPS4). Issuing the token is the admin's act that accepts what it will report."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.models import Person, Role
from accounts.policies import has_role, require_role
from accounts.tokens import digest_of
from agent import messages
from inventory.errors import DeviceElsewhere, EnrolmentTokenSpent, ProtocolMismatch, UnknownEnrolmentToken
from inventory.models import CapacityFact, EnrolmentToken, GpuModel, Node, Pool, Source
from inventory.services.hardware import catalogue_models, devices_elsewhere, devices_update, node_fields
from inventory.states import NodeState
from inventory.tokens import ENROLMENT_PREFIX, NODE_PREFIX, new_secret
from kernel import audit, clock, outbox
from kernel.errors import Conflict, Invalid, NotFound
from kernel.intervals import Interval
from kernel.ranges import to_range
from kernel.states import transition
from kernel.unit import lock, unit_of_work

DEFAULT_LIFE = timedelta(hours=24)
LONGEST_LIFE = timedelta(days=30)
NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class EnrolmentSpec:
    """What a token stands for. ``expires_at`` None: 24 hours from now."""

    node_name: str
    pool_id: int
    source: str = Source.OWNED
    expires_at: datetime | None = None


def enrolment_token_issue(*, actor: Person, spec: EnrolmentSpec) -> tuple[EnrolmentToken, str]:
    """A new one-time token and its secret, which is shown this once. Admins only.

    Whoever issues it accepts the hardware that the node will report as capacity (not of spot nodes). Raises
    ``Forbidden``, ``Invalid``.
    """
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        now = clock.now()
        expires_at = spec.expires_at or now + DEFAULT_LIFE
        _check_spec(spec, now, expires_at)
        secret = new_secret(ENROLMENT_PREFIX)
        token = EnrolmentToken.objects.create(
            node_name=spec.node_name,
            pool_id=spec.pool_id,
            source=spec.source,
            digest=digest_of(secret),
            issued_by=actor,
            created_at=now,
            expires_at=expires_at,
        )
        after = {
            "node": token.node_name,
            "pool": token.pool.name,
            "source": token.source,
            "expires_at": token.expires_at,
        }
        audit.record("node.enrolment_token_issued", actor=actor, subject=token, after=after)
    return token, secret


def _check_spec(spec: EnrolmentSpec, now: datetime, expires_at: datetime) -> None:
    errors: dict[str, list[str]] = {}
    if not NODE_NAME.fullmatch(spec.node_name):
        text = _("“%(value)s”: 1 to 100 letters, digits, dots, dashes or underscores; a letter or digit first.")
        errors["node_name"] = [text % {"value": spec.node_name[:100]}]
    if not Pool.objects.filter(pk=spec.pool_id).exists():
        errors["pool"] = [_("There is no pool %(value)s.") % {"value": spec.pool_id}]
    if spec.source not in Source.values:
        text = _("“%(value)s” is not one of: %(allowed)s.")
        errors["source"] = [text % {"value": spec.source[:40], "allowed": ", ".join(Source.values)}]
    if not now < expires_at <= now + LONGEST_LIFE:
        text = _("%(value)s: after now and within %(days)s days.")
        errors["expires_at"] = [text % {"value": expires_at.isoformat(), "days": LONGEST_LIFE.days}]
    node = Node.objects.filter(name=spec.node_name).exclude(state=NodeState.REMOVED).select_related("pool").first()
    if node is not None and node.pool_id != spec.pool_id:
        text = _("Node %(node)s is in pool %(pool)s. Move it first, or enrol it again there.")
        errors.setdefault("pool", []).append(text % {"node": node.name, "pool": node.pool.name})
    if node is not None and node.source != spec.source:
        text = _("Node %(node)s comes from “%(source)s”; enrolling it again does not change that.")
        errors.setdefault("source", []).append(text % {"node": node.name, "source": node.get_source_display()})
    if errors:
        raise Invalid(errors)


def enrolment_token_revoke(*, actor: Person, token_id: int) -> EnrolmentToken:
    """Make a token useless before it is used. Twice is the same as once; a used one is a ``Conflict``."""
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        now = clock.now()
        open_tokens = EnrolmentToken.objects.filter(pk=token_id, used_at__isnull=True, revoked_at__isnull=True)
        changed = open_tokens.update(revoked_at=now)
        token = _token_or_404(token_id)
        if token.used_at is not None:
            raise Conflict(_("Node %(node)s used this token already.") % {"node": token.node_name})
        if changed:
            audit.record("node.enrolment_token_revoked", actor=actor, subject=token, after={"node": token.node_name})
    return token


def open_enrolment_tokens_revoke(*, actor: Person, node_name: str) -> int:
    """Make every token of this node that could still be used useless, before another is issued; how many."""
    require_role(actor, Role.ADMIN)
    with unit_of_work():
        tokens = EnrolmentToken.objects.filter(
            node_name=node_name, used_at__isnull=True, revoked_at__isnull=True, expires_at__gt=clock.now()
        )
        numbers = list(tokens.select_for_update().order_by("pk").values_list("pk", flat=True))
        for number in numbers:
            enrolment_token_revoke(actor=actor, token_id=number)
    return len(numbers)


def _token_or_404(token_id: int) -> EnrolmentToken:
    from_db = EnrolmentToken.objects.select_related("pool", "issued_by").filter(pk=token_id).first()
    if from_db is None:
        raise NotFound
    return from_db


def node_enrol(*, message: messages.Enrol) -> messages.Enrolled:
    """Trade a one-time token for a node's own, which is returned this once.

    A new name becomes a new node with its devices, catalogue entries and capacity; a known one gets new
    credentials (the old token is dead) and keeps its capacity. Locks GPU models and node. Raises
    ``UnknownEnrolmentToken`` (401), ``EnrolmentTokenSpent``, ``ProtocolMismatch``, ``DeviceElsewhere`` (409).
    """
    require_protocol(message.protocol)
    with unit_of_work():
        token = _redeem(message.enrolment_token)
        models = catalogue_models(message.hardware.devices)
        known = Node.objects.filter(name=token.node_name).values_list("pk", flat=True)
        locked = lock({GpuModel: [row.pk for row in models.values()], Node: known})
        node: Node | None = next(iter(locked[Node].values()), None)
        _refuse_devices_elsewhere(node, message.hardware)
        secret = new_secret(NODE_PREFIX)
        joins = node is None or node.state == NodeState.REMOVED
        if node is None:
            node = _register(token, message, models, secret)
        else:
            _renew(node, token, message, models, secret)
        devices_update(node, message.hardware.devices, clock.database_now())
        accepted = _accept_capacity(node, token, message.hardware, models) if joins else {}
        after = {"node": node.name, "pool": token.pool.name, "source": node.source, "capacity": accepted}
        audit.record("node.enrolled", actor=token.issued_by, subject=node, after=after)
    return messages.Enrolled(node.pk, node.name, secret, messages.node_queue(node.pk))


def require_protocol(theirs: int) -> None:
    """Refuse what an agent of another version says; guessing what it means would be worse. ``ProtocolMismatch``."""
    if theirs != messages.PROTOCOL:
        text = _("The agent speaks protocol %(theirs)s, this portal %(ours)s.")
        raise ProtocolMismatch(text % {"theirs": theirs, "ours": messages.PROTOCOL})


def _redeem(secret: str) -> EnrolmentToken:
    """Mark the token used: of two at the same moment the second waits for the row and finds it taken."""
    token = EnrolmentToken.objects.select_related("pool", "issued_by").filter(digest=digest_of(secret)).first()
    if token is None:
        raise UnknownEnrolmentToken
    now = clock.now()
    is_open = EnrolmentToken.objects.filter(
        pk=token.pk, used_at__isnull=True, revoked_at__isnull=True, expires_at__gt=now
    )
    if not is_open.update(used_at=now):
        token.refresh_from_db(fields=["used_at", "revoked_at"])
        reason = "revoked" if token.revoked_at else "used" if token.used_at else "expired"
        text = {
            "revoked": _("This enrolment token was revoked."),
            "used": _("This enrolment token was used already; every token is good for one enrolment."),
            "expired": _("This enrolment token has expired."),
        }[reason]
        raise EnrolmentTokenSpent(text, data={"reason": reason})
    if not (token.issued_by.is_active and has_role(token.issued_by, Role.ADMIN)):
        # What a token accepts is an act of its issuer: no admin any more, no act.
        text = _("Who issued this enrolment token is no longer a platform admin.")
        raise EnrolmentTokenSpent(text, data={"reason": "issuer"})
    return token


def _refuse_devices_elsewhere(node: Node | None, hardware: messages.Hardware) -> None:
    taken = devices_elsewhere(node, hardware.devices)
    if taken:
        text = _("GPU %(uuid)s is registered on node %(node)s.") % {"uuid": taken[0].uuid, "node": taken[0].node.name}
        raise DeviceElsewhere(text, data={"uuids": [row.uuid for row in taken]})


def _register(token: EnrolmentToken, message: messages.Enrol, models: dict[str, GpuModel], secret: str) -> Node:
    try:
        with transaction.atomic():
            return Node.objects.create(
                name=token.node_name,
                pool=token.pool,
                source=token.source,
                token_digest=digest_of(secret),
                agent_version=message.agent_version[:40],
                registered_at=clock.now(),
                accepted_by=token.issued_by,
                **node_fields(message.hardware, models),
            )
    except IntegrityError as error:
        text = _("Node %(node)s is being enrolled by another token right now.") % {"node": token.node_name}
        raise Conflict(text) from error


def _renew(
    node: Node, token: EnrolmentToken, message: messages.Enrol, models: dict[str, GpuModel], secret: str
) -> None:
    """New credentials for a known node. One that was removed comes back as the token says."""
    if node.state == NodeState.REMOVED:
        node.pool, node.source, node.accepted_by = token.pool, token.source, token.issued_by
        transition(node, "enrol", actor=token.issued_by)
        outbox.emit("node.state_changed", subject=node, data={"from": NodeState.REMOVED, "to": node.state})
    written = {
        **node_fields(message.hardware, models),
        "token_digest": digest_of(secret),
        "agent_version": message.agent_version[:40],
        "boot_id": "",
        "sync_sequence": 0,
    }
    for name, value in written.items():
        setattr(node, name, value)
    node.save(update_fields=["pool", "source", "accepted_by", *written])


def _accept_capacity(
    node: Node, token: EnrolmentToken, hardware: messages.Hardware, models: dict[str, GpuModel]
) -> dict[str, int]:
    """Start the capacity of a node that joins, where it has none now or later. Spot nodes never have any."""
    now = clock.now()
    if not node.backs_guarantees or node.capacity_facts.filter(during__overlap=to_range(Interval(now))).exists():
        return {}
    counted = Counter(models[device.gpu_model] for device in hardware.devices)
    for model, gpus in counted.items():
        CapacityFact.objects.create(
            node=node,
            gpu_model=model,
            pool=node.pool,
            gpus=gpus,
            during=to_range(Interval(now)),
            accepted_by=token.issued_by,
        )
        data = {"gpu_model": model.pk, "gpus": gpus, "pool": node.pool_id}
        outbox.emit("capacity.changed", subject=node, data=data)
    return {model.name: gpus for model, gpus in counted.items()}
