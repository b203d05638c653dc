"""Explains how to import the class ``AsyncMinHashLSH`` of datasketch."""

from lookalike.datasketch.borrowed import refuse_class_stub

refuse_class_stub(__name__)
