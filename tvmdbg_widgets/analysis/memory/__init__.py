"""Memory plan of a graph: lifetimes of entries, and their slots."""
