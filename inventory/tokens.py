"""Secrets of nodes: shown once, kept as a digest (``accounts.tokens.digest_of``)."""

import secrets

ENROLMENT_PREFIX = "sle_"
NODE_PREFIX = "sln_"


def new_secret(prefix: str) -> str:
    """256 random bits; the prefix lets a scanner of leaked secrets name what it found."""
    return prefix + secrets.token_urlsafe(32)
