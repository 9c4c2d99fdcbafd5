"""What was measured: the newest values, and series over time. Null is *no data* everywhere, never 0."""
