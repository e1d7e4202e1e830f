"""Tensors: statistics, tiles, and what the inspector takes."""
