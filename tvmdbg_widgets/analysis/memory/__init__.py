"""The memory plan of a graph: what is live when, and in which slot."""
