"""What a tuning log is made of: tasks, trials as columns, transform steps, and compute DAGs."""
