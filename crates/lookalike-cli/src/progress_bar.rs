//! How far a run is, on standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lookalike::progress::{Progress, Stage};
use std::time::Duration;

/// How often a bar is drawn.
const EVERY: Duration = Duration::from_millis(100);

/// One bar that serves all stages, one after the other. Gone when dropped.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that shows nothing yet, and never anything where standard error is no terminal.
    pub(crate) fn new() -> Self {
        Self { bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(stage: Stage, known: bool) -> ProgressStyle {
    let template = match (stage, known) {
        (Stage::Prepare, true) => {
            "{msg:16} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"
        }
        (Stage::Prepare, false) => "{msg:16} {spinner} {bytes}, {bytes_per_sec}",
        (_, true) => "{msg:16} {wide_bar} {human_pos} of {human_len}, {eta} left",
        (_, false) => "{msg:16} {spinner} {human_pos}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for Bar {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        self.bar.reset();
        match total {
            Some(total) => self.bar.set_length(total),
            None => self.bar.unset_length(),
        }
        self.bar.set_style(style(stage, total.is_some()));
        self.bar.set_message(stage.to_string());
        self.bar.enable_steady_tick(EVERY);
    }

    fn advance(&self, done: u64) {
        self.bar.inc(done);
    }

    fn end(&self, _: Stage, _: Duration) {
        self.bar.disable_steady_tick();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_can_be_read() {
        for stage in [Stage::Prepare, Stage::Bucket, Stage::Decide] {
            for known in [false, true] {
                let drawn = format!("{:?}", style(stage, known).get_tick_str(0));
                assert!(!drawn.is_empty());
            }
        }
        let bar = Bar::new();
        bar.begin(Stage::Prepare, None);
        bar.advance(3);
        bar.end(Stage::Prepare, EVERY);
        bar.begin(Stage::Decide, Some(7));
        assert_eq!((bar.bar.position(), bar.bar.length()), (0, Some(7)));
    }
}
