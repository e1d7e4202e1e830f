"""Answers to the questions of the views."""
