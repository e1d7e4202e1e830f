"""A search that never ran: schedules as Ansor writes them, on a machine made of a few formulas."""
