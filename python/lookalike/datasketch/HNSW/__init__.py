"""Says how to get the class ``HNSW`` of datasketch. A folder, since ``HNSW.py`` is ``hnsw.py`` on
some systems.
"""

from lookalike.datasketch.borrowed import refuse_class_stub

refuse_class_stub(__name__)
