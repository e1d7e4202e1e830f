"""Times summed by node, op kind, group, device or range."""
