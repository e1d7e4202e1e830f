"""Questions about slices: level of detail, search, critical path, roofline."""
