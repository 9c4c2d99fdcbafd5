"""The flow of decisions over the API."""
