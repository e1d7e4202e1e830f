"""Files of parameters and tensor dumps, in both layouts of ``DLDataType``."""
