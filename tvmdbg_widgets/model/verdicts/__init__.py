"""What is said of a run: findings, and the health of its tensors."""
