"""Layouts of entries, told by attributes and checked against what is stored."""
