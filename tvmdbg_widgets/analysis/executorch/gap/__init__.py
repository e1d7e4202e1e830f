"""Numeric gap: logged values against references."""
