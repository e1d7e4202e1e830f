"""The view of a tuning log and the model that answers it."""
