"""Which layout of ``DLDataType`` memory, sources and compiled code have."""
