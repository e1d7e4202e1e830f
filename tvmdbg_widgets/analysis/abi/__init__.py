"""Layout of ``DLDataType`` in memory, sources and compiled code."""
