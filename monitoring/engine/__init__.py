"""Pure sums over samples and intervals: no database, no clock."""
