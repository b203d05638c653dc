"""Raises an ImportError that explains how to import the class ``AsyncMinHashLSH``."""

from lookalike.datasketch.borrowed import refuse_class_stub

refuse_class_stub(__name__)
