"""``lookalike.spark`` as a program: the file that ``spark-submit`` takes.

``python -m lookalike.spark --script`` prints where it is; ``docs/guides/cluster.md`` has its
options.
"""

import sys

from lookalike.spark.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
