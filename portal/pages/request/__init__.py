"""Asking for quota: the form with its consequence beside it, the page of a request, and the list."""
