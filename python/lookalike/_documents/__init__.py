"""Documents of a call: every type of input, converted for the engine and back."""
