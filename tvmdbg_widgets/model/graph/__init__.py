"""The graph of a run as columns, its nodes, operators and groups."""
