"""Measures and predicts the recall, precision and cost of runs."""
