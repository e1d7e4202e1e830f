"""Reports of TVM's profiler, as JSON, CSV or printed."""
