"""One tensor of a run as a figure."""
