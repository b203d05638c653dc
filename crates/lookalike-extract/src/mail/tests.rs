//! Whole messages, good and bad.
