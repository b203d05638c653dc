"""The switch for tests of full size, which ``cargo x soak`` and ``cargo x spark`` turn on."""

from __future__ import annotations

import os

import pytest

IS_SOAK = "LOOKALIKE_SOAK" in os.environ
#: Marks slow tests on a cluster. Continuous integration has four minutes for all cluster tests.
slow = pytest.mark.skipif(not IS_SOAK, reason="LOOKALIKE_SOAK is not set")
