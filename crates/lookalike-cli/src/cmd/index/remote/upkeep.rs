//! Upkeep of a service's index. The service runs the job, and the command waits until it ends.

use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use crate::service::service_client::{ClientBody, ServiceClient, ServiceRequest};
use lookalike::report::phrases::{count, one_line};
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

/// The pause after the first request for the state of the job. Each pause is twice as long as the
/// one before, up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Starts a job and waits for its end.
fn run(service: &ServiceClient, job: &Value) -> Result<Value, CommandError> {
    let body = ClientBody::Json(job);
    let request = ServiceRequest { method: "POST", path: "/upkeep", body, success: 202 };
    let number = service.number(&service.ask(request)?, "number")?;
    let mut pause = FIRST_PAUSE;
    loop {
        let all = service.ask(ServiceRequest::get("/upkeep"))?;
        let jobs = service.list(&all, "jobs")?;
        let lost = || {
            let address = service.address();
            CommandError::Data(format!(
                "{address}: the service does not know the job; was it restarted?"
            ))
        };
        let job = jobs.iter().find(|job| job["number"] == number).ok_or_else(lost)?;
        match job["state"].as_str() {
            Some("running") => std::thread::sleep(pause),
            Some("done") => return Ok(job.clone()),
            Some("failed") => {
                let detail = job["detail"].as_str().unwrap_or("the service reports no reason");
                let message = format!("{}: {}", service.address(), one_line(detail));
                return Err(CommandError::Data(message));
            }
            _ => return Err(service.unexpected("answers without the `state` of the job")),
        }
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Compacts the index of a service.
pub(in super::super) fn compact(service: &ServiceClient, is_json: bool) -> CommandResult {
    let answer = run(service, &json!({ "job": "compact" }))?;
    let number = |name| service.number(&answer, name);
    let documents = number("documents")?;
    let before = number("bytes_before")?;
    let after = number("bytes_after")?;
    if is_json {
        let value = json!({
            "index": service.address(), "documents": documents,
            "bytes_before": before, "bytes": after,
        });
        writeln!(terminal::stdout().json(), "{value}")?;
    } else {
        let documents = count(documents, "document");
        let message = format!("{}: {documents}, {after} of {before} bytes", service.address());
        terminal::stderr().message(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the index of a service. Also repairs it if `repair` is true.
pub(in super::super) fn check(
    service: &ServiceClient,
    repair: bool,
    is_json: bool,
) -> CommandResult {
    let job = if repair { "repair" } else { "check" };
    let answer = run(service, &json!({ "job": job }))?;
    let problems = service.list(&answer, "problems")?;
    let total = service.number(&answer, "problems_total")?;
    if is_json {
        let value = json!({
            "index": service.address(), "problems": problems, "problems_total": total,
        });
        writeln!(terminal::stdout().json(), "{value}")?;
    } else {
        let mut out = terminal::stdout();
        for problem in problems {
            let [place, what] = ["place", "what"].map(|name| problem[name].as_str());
            let [place, what] = [place, what].map(Option::unwrap_or_default);
            out.message(&format!("{place}: {what}"))?;
        }
    }
    match (total, is_json) {
        (0, true) => Ok(ExitCode::SUCCESS),
        (0, false) => {
            let message = format!("{}: everything is as it should be", service.address());
            terminal::stderr().message(&message)?;
            Ok(ExitCode::SUCCESS)
        }
        (_, true) => Ok(ExitCode::FAILURE),
        (total, false) => Err(CommandError::Data(format!(
            "{}: {}; `lookalike index check --repair` repairs what can be made again",
            service.address(),
            count(total, "problem")
        ))),
    }
}

/// Makes the service copy its index to the folder `name` below its `--backup-dir`.
pub(in super::super) fn backup(
    service: &ServiceClient,
    name: &str,
    is_json: bool,
) -> CommandResult {
    run(service, &json!({ "job": "backup", "name": name }))?;
    if is_json {
        let value = json!({ "index": service.address(), "backup": name });
        writeln!(terminal::stdout().json(), "{value}")?;
    } else {
        let address = service.address();
        let message = format!("{address} is copied to {name} in the folder of its --backup-dir");
        terminal::stderr().message(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}
