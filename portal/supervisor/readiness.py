"""Asks a running instance whether it is ready, and what is missing."""

import json
import urllib.error
import urllib.request


def missing(address: str) -> str:
    """What is not ready yet, in words; empty when everything is."""
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=10):  # noqa: S310  our own http address
            return ""
    except urllib.error.HTTPError as error:
        body = error.read()
    except OSError:
        return "the web process does not answer"
    try:
        checks = json.loads(body)
    except ValueError:
        return "the web process answers with an error"
    found = [f"{name}: {check['detail']}" for name, check in checks.items() if name != "ready" and not check["ok"]]
    return "; ".join(found)
