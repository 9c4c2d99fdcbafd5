"""Every address that the site answers, read from the resolver, and the methods that its view takes."""

from collections.abc import Callable, Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def routes() -> dict[str, Callable[..., Any]]:
    """Route as ``resolve(path).route`` names it → view."""
    return dict(_walk(get_resolver(), ""))


def _walk(resolver: URLResolver, before: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    for pattern in resolver.url_patterns:
        here = str(pattern.pattern)
        route = before + (here.removeprefix("^") if before else here)
        if isinstance(pattern, URLPattern):
            yield route, pattern.callback
        else:
            yield from _walk(pattern, route)


def declared_methods(view: Callable[..., Any]) -> set[str] | None:
    """Methods that a class of view handles; None for a function, which does not say."""
    actions = getattr(view, "actions", None)
    if actions:
        return {name.upper() for name in actions} & set(METHODS)
    kind = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if kind is None:
        return None
    return {name.upper() for name in kind.http_method_names if hasattr(kind, name)} & set(METHODS)
