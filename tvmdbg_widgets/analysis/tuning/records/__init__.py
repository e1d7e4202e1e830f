"""Records of a tuning log: found by query, the best of them, what TVM would apply, tables."""
