//! The parameters of a request with many documents.

use crate::documents::document_file::check_name;
use crate::documents::single::WriteMode;
use crate::http::address::QueryParameters;
use crate::http::problem::Problem;
use crate::state::app::App;

/// The parts that a body is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyForm {
    /// Lines of JSON.
    Lines,
    /// Records of a crawl (WARC).
    Records,
}

/// The options of a request.
#[derive(Debug, Clone)]
pub(crate) struct BulkOptions {
    pub(crate) mode: WriteMode,
    /// Whether the first bad line or record ends the request.
    pub(crate) stop: bool,
    /// Whether the lines come from an export.
    pub(crate) exported: bool,
    pub(crate) text_bytes: u64,
    pub(crate) form: BodyForm,
    /// The field of a record that is the id of its document, and the name of the file.
    pub(crate) id_field: &'static str,
    pub(crate) name: String,
}

impl BulkOptions {
    pub(crate) fn read(
        parameters: &QueryParameters,
        form: BodyForm,
        app: &App,
    ) -> Result<Self, Problem> {
        let is_crawl = form == BodyForm::Records;
        let forms = [("export", true), ("document", false)];
        let fields = [("record-id", "record-id"), ("url", "url")];
        let name = parameters.text("name").unwrap_or_default().to_owned();
        check_name(&name)?;
        Ok(Self {
            mode: WriteMode::of(parameters)?,
            // A crawl has images and other files without a text.
            stop: parameters.choice("on_error", &[("stop", true), ("skip", false)], !is_crawl)?,
            exported: parameters.choice("form", &forms, false)?,
            text_bytes: app.service.config.limits.text_bytes,
            form,
            id_field: parameters.choice("id_field", &fields, "record-id")?,
            name,
        })
    }
}
