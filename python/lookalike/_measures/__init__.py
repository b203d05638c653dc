"""Recall, precision and cost of runs."""
