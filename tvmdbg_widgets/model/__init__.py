"""A run as columns: graph, tensors and timeline, independent of file formats."""
