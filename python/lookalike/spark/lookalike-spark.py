"""The program file of ``lookalike.spark`` for ``spark-submit``.

``python -m lookalike.spark --script`` prints the path of this file. ``docs/guides/cluster.md``
describes its options.
"""

import sys

from lookalike.spark.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
