"""Tensor expressions as far as tuned workloads are written in them."""
