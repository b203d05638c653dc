//! The description of the API for programs (OpenAPI), made from `openapi.json` for the indexes of
//! the server.

use crate::caches::document_groups;
use crate::http::address::QueryParameters;
use crate::http::response::HandlerResult;
use crate::page;
use crate::server::route_rights::needed_right;
use crate::state::app::App;
use crate::state::served_indexes::ServedIndexes;
use axum::extract::{Request, State};
use axum::http::Method;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Paths that are about all indexes, or that already name an index.
const OF_SERVICE: [&str; 3] = ["/metrics", "/openapi.json", "/v1/indexes"];

/// The pattern of names of indexes.
const NAME_PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$";

/// `GET /openapi.json`
pub(crate) async fn get(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    // If the server has tokens, answers without a token contain no names of indexes.
    let has_names = indexes.service.credentials.now().tokens.is_empty();
    let kept = &indexes.descriptions[usize::from(has_names)];
    let text = kept.get_or_init(|| of(&indexes, has_names).into());
    Ok(page::tagged(&request, "application/json", text.clone()))
}

/// The description for a server, which every client may read. It contains the names of indexes
/// unless they are secret.
fn of(indexes: &ServedIndexes, has_names: bool) -> String {
    const TEXT: &str = include_str!("../openapi.json");
    let Ok(mut all) = serde_json::from_str::<Value>(TEXT) else { return TEXT.to_owned() };
    let least = indexes.all.iter().map(|app| document_groups::least_threshold(&app.index));
    bound_threshold(&mut all, least.fold(0.0, f64::max));
    state_rights(&mut all);
    let names: Vec<_> = indexes.all.iter().filter_map(|app| App::label(app)).collect();
    if let Some(Value::Object(paths)) = all.get_mut("paths").filter(|_| !names.is_empty()) {
        let name = if has_names {
            json!({ "type": "string", "enum": names })
        } else {
            json!({ "type": "string", "pattern": NAME_PATTERN })
        };
        let named: Vec<_> = paths.iter().filter_map(|path| below_name(path, &name)).collect();
        paths.extend(named);
    }
    all.to_string()
}

/// Adds the right that the token must have to each operation, as `x-right`. Adds nothing to an
/// operation without a token.
fn state_rights(all: &mut Value) {
    let paths = all.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for (name, method) in [
            ("get", Method::GET),
            ("put", Method::PUT),
            ("post", Method::POST),
            ("delete", Method::DELETE),
        ] {
            let operation = item.get_mut(name).and_then(Value::as_object_mut);
            if let Some(operation) =
                operation.filter(|operation| !operation.contains_key("security"))
            {
                let right = needed_right(path, &method).name();
                operation.insert("x-right".to_owned(), right.into());
            }
        }
    }
}

/// Sets the minimum threshold of groups.
fn bound_threshold(all: &mut Value, least: f64) {
    for path in ["groups", "review~1removed", "review~1kept"] {
        let parameters = all.pointer_mut(&format!("/paths/~1v1~1{path}/get/parameters"));
        let parameters = parameters.and_then(Value::as_array_mut);
        let threshold = parameters
            .and_then(|all| all.iter_mut().find(|parameter| parameter["name"] == "threshold"));
        if let Some(Value::Object(schema)) = threshold.map(|parameter| &mut parameter["schema"]) {
            schema.remove("exclusiveMinimum");
            schema.insert("minimum".to_owned(), least.into());
        }
    }
}

/// Returns the path below the name of an index. It has the same operations, with other names.
fn below_name((path, item): (&String, &Value), name: &Value) -> Option<(String, Value)> {
    let rest = path.strip_prefix("/v1/").filter(|_| !is_of_service(path))?;
    let mut item = item.as_object()?.clone();
    let parameter = json!({
        "name": "index", "in": "path", "required": true, "description": "The name of an index.",
        "schema": name,
    });
    let before =
        item.remove("parameters").and_then(|parameters| Some(parameters.as_array()?.clone()));
    let parameters: Vec<_> = [parameter].into_iter().chain(before.unwrap_or_default()).collect();
    item.values_mut().filter_map(Value::as_object_mut).for_each(as_of_index);
    item.insert("parameters".to_owned(), parameters.into());
    Some((format!("/v1/indexes/{{index}}/{rest}"), item.into()))
}

fn is_of_service(path: &str) -> bool {
    OF_SERVICE.contains(&path) || path.starts_with("/v1/indexes/")
}

/// Gives an operation its own name, and the answer for an index that does not exist.
fn as_of_index(operation: &mut Map<String, Value>) {
    if let Some(Value::Object(responses)) = operation.get_mut("responses") {
        let problem = json!({ "$ref": "#/components/responses/Problem" });
        // The health also needs a token there, since names of indexes are secret.
        for status in ["401", "404"] {
            responses.entry(status).or_insert_with(|| problem.clone());
        }
    }
    operation.remove("security");
    if let Some(Value::String(id)) = operation.get_mut("operationId") {
        id.push_str("OfIndex");
    }
}
