"""Raises an ImportError that explains how to import the class ``HNSW``.

This module is a folder, because file systems that ignore case do not distinguish ``HNSW.py`` from
``hnsw.py``.
"""

from lookalike.datasketch.borrowed import refuse_class_stub

refuse_class_stub(__name__)
