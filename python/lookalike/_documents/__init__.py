"""Converts each type of input to documents of the engine, and results back to the input's type."""
