"""Figures of the byte layouts of structs."""
