"""The secret of a service token: how it is made and how it is looked up. Only its digest is ever stored."""

import hashlib
import secrets

PREFIX = "sluice_"
SHOWN_CHARACTERS = 12
"""How much of the secret is kept, so that its owner can tell which one it is."""


def new_secret() -> str:
    """256 random bits behind a prefix that scanners for leaked secrets can look for."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """SHA-256 in hex. A plain hash is enough: the secret is random, not chosen by a person."""
    return hashlib.sha256(secret.encode()).hexdigest()
