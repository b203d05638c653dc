//! The tests of extraction, one module for each kind of file. `worker` is a test program of its
//! own: it is started again as the worker, and its tests count the children of their process.

#[cfg(feature = "html")]
mod html;
mod mail;
mod office;
#[cfg(feature = "pdf")]
mod pdf;
