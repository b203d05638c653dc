"""Explains how to import the class ``HNSW`` of datasketch. This is a folder, since file systems
that ignore case do not distinguish ``HNSW.py`` from ``hnsw.py``.
"""

from lookalike.datasketch.borrowed import refuse_class_stub

refuse_class_stub(__name__)
