"""GPU models, nodes, pools, capacity and reserve as dated facts."""
