"""One pass over all tensors of a run, and what it tells of their health."""
