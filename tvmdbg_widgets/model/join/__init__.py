"""Which node or entry each recorded item belongs to, and how sure that is."""
