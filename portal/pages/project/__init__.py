"""The page of one project: what it holds, uses, costs and runs, and what waits for whom."""
