"""Figures of every view, made without a browser."""
