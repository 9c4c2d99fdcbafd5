"""People, the organisation-wide roles they hold, and tokens for programs."""

from collections.abc import Iterator
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from kernel.unit import LockRank


class PersonManager(BaseUserManager["Person"]):
    def create_user(self, username: str, password: str | None = None, **fields: object) -> "Person":
        """A person with a usable password, or one without (service account, single sign-on)."""
        person = self.model(username=username, **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person


class Person(AbstractBaseUser, PermissionsMixin):
    """Somebody, or a service account, who acts in the portal. Never deleted, only deactivated.

    ``is_superuser`` (of the framework) is no rule of the portal: roles are ``RoleGrant`` rows.
    """

    lock_rank = LockRank.PERSON
    username = models.CharField(max_length=150, unique=True)
    display_name = models.CharField(max_length=200)
    email = models.EmailField(blank=True)
    language = models.CharField(max_length=10, blank=True, default="")
    """The person's own choice; empty as the browser asks (``accounts.languages``)."""
    is_active = models.BooleanField(default=True)
    is_service = models.BooleanField(default=False)
    session_epoch = models.PositiveIntegerField(default=0)
    """Raised to end every session of this person: it is part of what a session is checked against."""
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["display_name"]
    objects: ClassVar[PersonManager] = PersonManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("username"), name="person_username_any_case")]

    def __str__(self) -> str:
        return self.display_name or self.username

    def get_session_auth_hash(self) -> str:
        """What a session must match: changes with the password and with ``session_epoch``."""
        return self._session_hash(None)

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """The same under each retired secret key, so that changing the key signs nobody out."""
        return (self._session_hash(secret) for secret in settings.SECRET_KEY_FALLBACKS)

    def _session_hash(self, secret: str | bytes | None) -> str:
        value = f"{self.session_epoch}:{self.password}"
        return str(salted_hmac("sluice.session", value, secret=secret, algorithm="sha256").hexdigest())


class Role(models.TextChoices):
    """Roles held organisation-wide. Lead and researcher are held per project, by membership."""

    DIRECTOR = "director", _("Director")
    ADMIN = "admin", _("Platform admin")
    AUDITOR = "auditor", _("Auditor")


class RoleGrant(models.Model):
    """A role held from ``granted_at`` until it is revoked. Rows stay as history."""

    lock_rank = LockRank.ROLE_GRANT
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="role_grants")
    role = models.CharField(max_length=20, choices=Role.choices)
    granted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    granted_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "role"], condition=Q(revoked_at__isnull=True), name="rolegrant_live_once"
            )
        ]


class Scope(models.TextChoices):
    """What a token may do; never more than its owner may."""

    READ = "read", _("Read")
    WRITE = "write", _("Read and change")
    JOBS = "jobs", _("Read, and run jobs")


class ServiceToken(models.Model):
    """A bearer token of a person or service account. Only its SHA-256 digest is kept."""

    name = models.CharField(max_length=100)
    owner = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="tokens")
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope.choices))
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(expires_at__gt=models.F("created_at")), name="servicetoken_expiry"),
            models.CheckConstraint(condition=Q(scopes__len__gt=0), name="servicetoken_scopes"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scope_words(self) -> list[str]:
        """What it may do, in words."""
        return [str(Scope(scope).label) for scope in self.scopes]
