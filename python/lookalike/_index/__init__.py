"""The persistent index: its class, arguments, inputs and results."""
