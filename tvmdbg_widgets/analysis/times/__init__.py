"""Times summed up by node, op kind, group, device or range."""
