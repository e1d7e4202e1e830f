"""Rules about the values of tensors."""
