"""Questions about the nodes of a graph."""
