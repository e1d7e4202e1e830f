"""Byte layouts of the structs that compiled code and the runtime share."""
