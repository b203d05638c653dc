//! Records, whole and broken.
