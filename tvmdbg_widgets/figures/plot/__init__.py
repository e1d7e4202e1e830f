"""Plots as figures."""
