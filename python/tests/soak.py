"""Whether tests run at their full size: ``cargo x soak`` and ``cargo x spark`` set it."""

from __future__ import annotations

import os

import pytest

IS_SOAK = "LOOKALIKE_SOAK" in os.environ
#: Tests that take long on a cluster; continuous integration has four minutes for all of them.
slow = pytest.mark.skipif(not IS_SOAK, reason="LOOKALIKE_SOAK is not set")
