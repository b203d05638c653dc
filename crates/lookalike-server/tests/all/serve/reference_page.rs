//! The reference of operations in the documentation, which the test renders from `openapi.json`.

use crate::serve::schema::{DESCRIPTION, followed};
use crate::serve::served::Served;
use serde_json::{Map, Value};
use std::path::Path;

const PAGE: &str = "docs/reference/http-operations.md";
const TEXT: &str = include_str!("../../../src/openapi.json");
const SCHEMAS: &str = "#/components/schemas/";
const METHODS: [&str; 4] = ["get", "put", "post", "delete"];
/// The members of a schema that contain limits, with their unit.
const LIMITS: [(&str, &str, &str); 3] = [
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
];
/// The largest exact integer of JavaScript, which is the maximum of numbers without another limit.
const UNLIMITED: u64 = (1 << 53) - 1;

/// The sections, each with the beginnings of its paths.
const SECTIONS: [(&str, &str); 4] = [
    ("Documents", "/v1/documents /v1/export /v1/extract"),
    ("Searches", "/v1/query /v1/queries /v1/compare /v1/passages"),
    ("Groups and decisions", "/v1/groups /v1/decisions /v1/agreement /v1/review /v1/categories"),
    (
        "Indexes and the server",
        "/v1/indexes /v1/settings /v1/stats /v1/upkeep /v1/health /metrics /openapi.json",
    ),
];

const INTRODUCTION: &str = "\
# HTTP operations

These are the operations of `lookalike serve`. [http.md](http.md) explains its indexes, tokens,
limits, errors and settings. This page is generated from `/openapi.json`, the description for
programs. The page `/api` of the server has a form for each operation.

A path `/v1/…` uses the first index. `/v1/indexes/NAME/…` uses the index with this name.

- A parameter or field is required in requests and always present in answers, unless it is optional
  or has a default. In requests, null means the default.
- `matches[].id` is the field `id` of each object in the list `matches`.
- A *time* is a string in RFC 3339, such as `2026-11-26T10:00:00Z`. A *file* is a body of bytes.
- The *right* is the right of a token ([access](http.md#access)).

| operation | effect | right |
|---|---|---|
";

/// Renders the page. `of_server`, the description that a server sends, has the required right of
/// each operation.
fn render(of_server: &Value) -> String {
    let (mut page, mut sections) = (INTRODUCTION.to_owned(), String::new());
    let paths = object(&DESCRIPTION["paths"]);
    for (section, beginnings) in SECTIONS {
        sections += &format!("\n## {section}\n");
        let of_section = beginnings.split(' ').flat_map(|beginning| {
            paths.iter().filter(move |(path, _)| path.starts_with(beginning))
        });
        for (path, item) in of_section {
            for method in METHODS {
                let Some(operation) = item.get(method) else { continue };
                let title = format!("{} {path}", method.to_uppercase());
                let right = of_server["paths"][path][method]["x-right"].as_str().unwrap_or("none");
                let is_kept = |letter: &char| letter.is_alphanumeric() || *letter == ' ';
                let anchor = title.to_lowercase().chars().filter(is_kept).collect::<String>();
                let anchor = anchor.replace(' ', "-");
                let summary = text(&operation["summary"]);
                page += &format!("| [`{title}`](#{anchor}) | {summary} | `{right}` |\n");
                sections += &format!("\n### `{title}`\n");
                let parameters = [item, operation].map(|node| list(&node["parameters"])).concat();
                add_operation(operation, &parameters, right, &mut sections);
            }
        }
    }
    let is_missing = |path: &&String| !sections.contains(&format!(" {path}`\n"));
    assert_eq!(paths.keys().find(is_missing), None, "no section has this path");
    sections += "\n## Schemas\n";
    for (name, schema) in object(&DESCRIPTION["components"]["schemas"]) {
        if is_shared(name) {
            sections += &format!("\n### {name}\n{}", paragraphs(&description(schema)));
            add_fields(schema, &mut sections);
        }
    }
    page + &sections
}

fn add_operation(operation: &Value, parameters: &[Value], right: &str, page: &mut String) {
    let summary = text(&operation["summary"]);
    *page += &paragraphs(&format!("{summary}. {}", description(operation)));
    if !parameters.is_empty() {
        *page += "\n| parameter | in | value | description |\n|---|---|---|---|\n";
    }
    for parameter in parameters {
        let [name, place] = ["name", "in"].map(|member| text(&parameter[member]));
        let value = value(&parameter["schema"], parameter["required"] == true);
        *page += &format!("| `{name}` | {place} | {value} | {} |\n", cell(parameter));
    }
    if let Some(body) = operation.get("requestBody") {
        *page += "\nBody:\n\n";
        add_contents(&[("", body)], page);
    }
    let answers =
        object(&operation["responses"]).iter().map(|(status, answer)| (status.as_str(), answer));
    let (errors, answers): (Vec<_>, Vec<_>) =
        answers.partition(|(_, answer)| answer.get("$ref").is_some());
    *page += "\nAnswers:\n\n";
    add_contents(&answers, page);
    let errors: Vec<_> = errors.iter().map(|(status, _)| format!("`{status}`")).collect();
    let errors = errors.join(", ");
    *page +=
        &paragraphs(&format!("Right: `{right}`. Errors: {errors}, each a [Problem](#problem)."));
}

/// Lists the content types of bodies or answers, then the fields of their schemas.
fn add_contents(all: &[(&str, &Value)], page: &mut String) {
    let mut tables = String::new();
    for (status, body) in all {
        let mut kinds = vec![("", &Value::Null)];
        if let Some(content) = body["content"].as_object() {
            kinds =
                content.iter().map(|(kind, content)| (kind.as_str(), &content["schema"])).collect();
        }
        for (kind, schema) in kinds {
            let heads = [*status, kind].into_iter().filter(|head| !head.is_empty());
            let heads = heads.map(|head| format!("`{head}`")).chain(link(schema));
            let heads = heads.collect::<Vec<_>>().join(", ");
            let own = description(if body.get("description").is_some() { body } else { schema });
            *page += &wrapped(&format!("{heads}: {own}"), "- ", "  ");
            if link(schema).is_none() {
                add_fields(schema, &mut tables);
            }
        }
    }
    *page += &tables;
}

fn add_fields(schema: &Value, page: &mut String) {
    let mut rows = String::new();
    add_rows("", schema, &mut rows);
    if !rows.is_empty() {
        *page += &format!("\n| field | value | description |\n|---|---|---|\n{rows}");
    }
}

/// Adds a row for each field, the required ones first, and for the fields inside it.
fn add_rows(prefix: &str, schema: &Value, rows: &mut String) {
    let schema = followed(schema);
    let required: Vec<&str> = list(&schema["required"]).iter().map(text).collect();
    let Some(fields) = schema["properties"].as_object() else {
        let own = branches(schema).filter(|branch| link(branch).is_none());
        return own.for_each(|branch| add_rows(prefix, branch, rows));
    };
    let optional = fields.keys().map(String::as_str).filter(|name| !required.contains(name));
    for name in required.iter().copied().chain(optional) {
        let field = &fields[name];
        let value = value(field, required.contains(&name));
        *rows += &format!("| `{prefix}{name}` | {value} | {} |\n", cell(field));
        let items = field.get("items");
        let list = if items.is_some() { "[]" } else { "" };
        let inner = items.unwrap_or(field);
        if link(inner).is_none() {
            add_rows(&format!("{prefix}{name}{list}."), inner, rows);
        }
    }
}

/// Describes the type of a value with its limits and its default.
fn value(schema: &Value, is_required: bool) -> String {
    let mut parts = vec![phrase(schema)];
    let schema = followed(schema);
    parts.extend(schema.get("exclusiveMinimum").map(|least| format!("above {least}")));
    for (least, most, unit) in LIMITS {
        let bound = |name| schema.get(name).filter(|bound| bound.as_u64() != Some(UNLIMITED));
        parts.extend(match (bound(least), bound(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("{least}{unit}")),
            (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
            (None, Some(most)) => Some(format!("at most {most}{unit}")),
            (Some(least), None) if *least != 0 => Some(format!("{least}{unit} or more")),
            _ => None,
        });
    }
    let default = schema.get("default").map(|value| format!("default {}", code(value)));
    parts.extend(default.or_else(|| (!is_required).then(|| "optional".to_owned())));
    parts.join(", ")
}

fn phrase(schema: &Value) -> String {
    if let Some(link) = link(schema) {
        return link;
    }
    let schema = followed(schema);
    let of_type = |name: &Value| match (text(name), text(&schema["format"])) {
        ("array", _) => format!("list of {}", phrase(&schema["items"]).replace(" or ", "/")),
        ("string", "date-time") => "time".to_owned(),
        ("string", "binary") => "file".to_owned(),
        (name, _) => name.to_owned(),
    };
    let parts: Vec<_> = match (&schema["enum"], &schema["type"]) {
        (Value::Array(values), _) => values.iter().map(code).collect(),
        (_, Value::Array(types)) => types.iter().map(of_type).collect(),
        (_, Value::Null) => branches(schema).map(phrase).collect(),
        (_, name) => vec![of_type(name)],
    };
    parts.join(" or ")
}

fn code(value: &Value) -> String {
    format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn cell(value: &Value) -> String {
    description(value).replace('|', "\\|").replace("\n\n", " ")
}

fn description(value: &Value) -> String {
    let link = |text: String, page| {
        text.replace(&format!("docs/reference/{page}"), &format!("[{page}]({page})"))
    };
    let text = text(&followed(value)["description"]).replace("`NewLine`", "[NewLine](#newline)");
    ["categories.md", "decisions.md", "http.md"].into_iter().fold(text, link)
}

fn paragraphs(text: &str) -> String {
    text.split("\n\n").map(|text| format!("\n{}", wrapped(text, "", ""))).collect()
}

/// Wraps a paragraph to lines of at most 100 columns. `first` precedes the first line, and `rest`
/// the others.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let (mut lines, mut line) = (String::new(), first.to_owned());
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() > 100 {
            lines += &format!("{}\n", line.trim_end());
            rest.clone_into(&mut line);
        }
        line += &format!("{word} ");
    }
    format!("{lines}{}\n", line.trim_end())
}

/// Returns the link to the section of a schema, if it has one.
fn link(schema: &Value) -> Option<String> {
    let name = schema["$ref"].as_str()?.strip_prefix(SCHEMAS)?;
    is_shared(name).then(|| format!("[{name}](#{})", name.to_lowercase()))
}

/// Returns true for a schema with its own section. A schema with a single use is shown at that use.
fn is_shared(name: &str) -> bool {
    TEXT.matches(&format!("\"{SCHEMAS}{name}\"")).count() != 1
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().flat_map(|name| list(&schema[name]))
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// If the page differs, the test writes the new page and fails.
#[test]
fn reference_page_shows_the_description() {
    let page = render(&Served::start().client.get("/openapi.json").json());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let is_current = std::fs::read_to_string(&path).is_ok_and(|text| text == page);
    if !is_current {
        std::fs::write(&path, page).unwrap();
    }
    assert!(is_current, "{PAGE} was out of date, and is written again");
}
