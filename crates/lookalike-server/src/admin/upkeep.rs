//! `POST /v1/upkeep`, `GET /v1/upkeep`: upkeep of the index while it is served.

use crate::config::index_name::is_name;
use crate::http::address::QueryParameters;
use crate::http::json;
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, json};
use crate::state::app::App;
use crate::threads::upkeep_jobs::JobKind;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// A job in a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UpkeepRequest {
    job: JobKind,
    /// The name of a backup.
    name: Option<String>,
}

/// The folder of a new backup.
fn backup_folder(app: &App, name: Option<&str>) -> Result<PathBuf, Problem> {
    let Some(folder) = &app.service.config.backup_dir else {
        let detail = "the server has no folder for backups: start it with --backup-dir FOLDER";
        return Err(Problem::new(Code::NO_BACKUP_FOLDER, detail));
    };
    let wrong = |detail: String| Err(Problem::new(Code::BAD_MEMBER, detail));
    let Some(name) = name else {
        return wrong("a backup needs a name, such as \"2026-11-26\"".to_owned());
    };
    if !is_name(name) {
        let name = lookalike::store::entry::shortened_id(name);
        return wrong(format!(
            "name is {name:?}: expected 1 to 100 of A-Z a-z 0-9 - _ . and no . in front"
        ));
    }
    let to = match app.label() {
        None => folder.join(name),
        Some(index) => {
            let of_index = folder.join(index);
            std::fs::create_dir_all(&of_index)
                .map_err(|error| Problem::internal(format!("{}: {error}", of_index.display())))?;
            of_index.join(name)
        }
    };
    if std::fs::symlink_metadata(&to).is_ok() {
        let detail = format!("backup {name:?} already exists; choose another name");
        return Err(Problem::new(Code::BACKUP_TAKEN, detail));
    }
    Ok(to)
}

/// `POST /v1/upkeep`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let (body, _work) = app.json_body(request, 1).await?;
    let UpkeepRequest { job, name } = json::parse(&body.bytes)?;
    let to = match job {
        JobKind::Backup => Some(backup_folder(&app, name.as_deref())?),
        _ if name.is_some() => {
            let detail = "only a backup has a name: leave it out";
            return Err(Problem::new(Code::BAD_MEMBER, detail));
        }
        JobKind::Check => None,
        JobKind::Compact | JobKind::CompactDecisions | JobKind::Repair => {
            app.writer()?;
            None
        }
    };
    let job = app.upkeep.start(&app.index, &app.state, &app.service.log, job, to)?;
    json(StatusCode::ACCEPTED, &job)
}

/// `GET /v1/upkeep`
pub(crate) async fn list(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    json(StatusCode::OK, &json!({ "jobs": app.upkeep.list() }))
}
