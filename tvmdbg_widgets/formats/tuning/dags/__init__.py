"""Compute DAGs from the text that TVM prints of them."""
