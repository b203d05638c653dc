//! Where reports go: lines on standard output, a webhook, a feed.

use super::args::OutputArgs;
use super::feed::MatchFeed;
use super::resemblance;
use super::webhook::Webhook;
use crate::cmd::CommandError;
use crate::output::terminal;
use lookalike::core::parameter::NamesParameters;
use lookalike::index::time;
use lookalike::read::SkippedItem;
use lookalike::report::phrases::one_line;
use lookalike::report::{OutputError, option_name};
use lookalike::watch::Resemblance;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The reports of a watch.
pub(super) struct Reports {
    is_json: bool,
    webhook: Option<Webhook>,
    feed: Option<(PathBuf, MatchFeed)>,
}

impl Reports {
    /// Returns the reports about a folder that the options request.
    ///
    /// # Errors
    /// The address of the webhook is invalid, or the feed cannot be read.
    pub(super) fn new(args: &OutputArgs, folder: &Path) -> Result<Self, CommandError> {
        let webhook = args.webhook.as_deref().map(Webhook::new).transpose()?;
        let open = |path: &PathBuf| {
            let feed = MatchFeed::open(path, &folder.display().to_string());
            let feed = feed.map_err(|error| {
                CommandError::Usage(format!("--feed {}: {error}", path.display()))
            })?;
            Ok::<_, CommandError>((path.clone(), feed))
        };
        let feed = args.feed.as_ref().map(open).transpose()?;
        Ok(Self { is_json: args.json, webhook, feed })
    }

    /// Reports documents in every requested way. Prints a warning if the webhook does not accept a
    /// report. `pause` waits before another attempt, and returns false to stop.
    ///
    /// # Errors
    /// The lines or the feed cannot be written.
    pub(super) fn report(
        &mut self,
        found: &[Resemblance],
        skipped: &[SkippedItem],
        pause: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<(), CommandError> {
        self.print(found, skipped)?;
        if let Some((path, feed)) = &mut self.feed
            && !found.is_empty()
        {
            let written = feed.add(found, &time::format(time::now()));
            written.map_err(|source| OutputError::Write { path: path.clone(), source })?;
        }
        let Some(webhook) = &self.webhook else { return Ok(()) };
        let mut is_stopped = false;
        for document in found.iter().filter(|document| !document.matches.is_empty()) {
            let mut wait_or_stop = |wait| {
                is_stopped = !pause(wait);
                !is_stopped
            };
            if let Err(why) = webhook.send(&resemblance::to_json(document), &mut wait_or_stop) {
                let id = one_line(&document.id);
                terminal::stderr().message(&format!("warning: {id} was not sent: {why}"))?;
            }
        }
        Ok(())
    }

    fn print(&self, found: &[Resemblance], skipped: &[SkippedItem]) -> Result<(), CommandError> {
        let mut out = terminal::stdout().json_if(self.is_json);
        for SkippedItem { source, id, reason, .. } in skipped {
            let reason = reason.spelled(option_name);
            if self.is_json {
                let value = json!({ "source": source, "id": id, "skipped": reason });
                writeln!(out, "{value}")?;
            } else {
                terminal::stderr().message(&format!("{source}: skipped: {reason}"))?;
            }
        }
        for document in found {
            if self.is_json {
                writeln!(out, "{}", resemblance::to_json(document))?;
            } else {
                writeln!(out, "{}", resemblance::line(document))?;
            }
        }
        Ok(out.flush()?)
    }
}
