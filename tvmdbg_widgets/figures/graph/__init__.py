"""The graph of a run as a figure."""
