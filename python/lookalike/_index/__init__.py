"""The persistent index: the class ``Index``, its arguments and inputs, and its results."""
