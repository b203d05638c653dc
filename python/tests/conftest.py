"""What all tests rely on."""

from __future__ import annotations

import signal

# A shell starts what runs in the background with Ctrl-C ignored, and what that starts inherits it;
# the tests that press it would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
