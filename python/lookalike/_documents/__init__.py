"""Conversion of the documents of a call: each type of input for the engine, and results back."""
