"""The decision on a quota request: what is asked, what it does to the others, how like cases were decided."""
