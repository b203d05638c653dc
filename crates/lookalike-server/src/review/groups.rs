//! `GET /v1/groups`: the groups of near-duplicates among all documents, page by page.

use crate::caches::category_cache::{self, CategoryCache};
use crate::caches::decision_cache::DecisionsInForce;
use crate::caches::document_groups::{self, DocumentGroups, GroupOrder};
use crate::caches::group::{DocumentGroup, GroupMember};
use crate::caches::group_cache::Lookup;
use crate::config::token::{Right, right};
use crate::documents::document_view::{MOST_BEGINNING, beginning, visible};
use crate::http::address::QueryParameters;
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, JsonList, json, json_bytes};
use crate::review::group_filter::GroupFilter;
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use lookalike::categories::CategoryNumber;
use lookalike::decisions::Judgment;
use lookalike::index::{IndexCategories, time};
use lookalike::store::Index;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::RecordFields;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// Default and maximum number of groups in a list.
const LIST: usize = 50;
const LIST_MAX: usize = 1_000;
/// A list ends early beyond this many documents.
const LIST_DOCUMENTS: usize = 20_000;
/// A list also ends early beyond this many bytes of ids and metadata.
const LIST_BYTES: usize = 16 << 20;

/// A list with conditions on documents, or with beginnings, also ends early beyond this many
/// documents that were read, or this many bytes of their texts.
const READ_DOCUMENTS: usize = 20_000;
const READ_BYTES: u64 = 64 << 20;

/// `GET /v1/groups`
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let known = ["after", "beginning", "limit", "order", "state", "threshold"];
    let known = [&known[..], &GroupFilter::PARAMETERS].concat();
    let parameters = QueryParameters::read_repeating(request.uri().query(), &known, &["filter"])?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let threshold = parameters.threshold(app.index.settings().threshold)?;
    let cursor = parameters.cursor(GroupsCursor::read)?;
    let states = [("decided", Some(true)), ("undecided", Some(false)), ("all", None)];
    let decided = parameters.choice("state", &states, None)?;
    let orders = [
        ("size", GroupOrder::Size),
        ("doubt", GroupOrder::Doubt),
        ("similarity", GroupOrder::Similarity),
    ];
    let order = parameters.choice("order", &orders, GroupOrder::Size)?;
    let beginning = parameters.number("beginning", MOST_BEGINNING, 0)?;
    let filter = GroupFilter::read(&parameters)?;
    let right = right(&request);
    let version = checked_version(&app, threshold, filter.category.as_deref()).await?;
    let (found, stale) = match cursor {
        None => match app.groups.lookup(threshold, version)? {
            Lookup::Ready { list, stale } => (list, stale),
            Lookup::Pending { retry_after } => return pending(retry_after),
        },
        Some(cursor) => {
            let found = app.groups.at(threshold, cursor.computed).ok_or_else(|| {
                let seconds = app.service.config.limits.cursor_time.as_secs();
                let detail = format!(
                    "the list of this cursor is not kept any more: it is kept for {seconds} s \
                     after each of its pages; leave out `after` to begin again"
                );
                Problem::new(Code::CURSOR_EXPIRED, detail)
            })?;
            (found, false)
        }
    };
    let at = cursor.unwrap_or(GroupsCursor { computed: found.computed, from: 0, skip: 0 });
    let list = Arc::clone(&found);
    let part = ListPart { at, limit, stale, right, decided, order, filter, beginning };
    let decisions = Arc::clone(&app.decisions);
    let categories = Arc::clone(&app.categories);
    let show = move |worker: &mut PoolWorker| {
        let index = &worker.index;
        decisions
            .read(index, |in_force| show(index, &list, (in_force, &categories), &part, time::now()))
    };
    let (page, has_more) = app.pool.run(show).await?;
    if has_more {
        app.groups.keep_for_cursor(&found);
    }
    Ok(json_bytes(StatusCode::OK, page))
}

/// Returns the version of the index. Returns a problem for a threshold or a category that groups
/// cannot have, so that no client waits for a computation to learn this.
pub(crate) async fn checked_version(
    app: &App,
    threshold: f64,
    category: Option<&str>,
) -> Result<u64, Problem> {
    let categories = Arc::clone(&app.categories);
    let category = category.map(str::to_owned);
    let check = move |worker: &mut PoolWorker| {
        document_groups::check_threshold(&worker.index, threshold)?;
        let mut snapshot = worker.index.snapshot()?;
        if let Some(path) = category {
            category_cache::named(categories.for_answer(&mut *snapshot)?.as_ref(), &path)?;
        }
        Ok(snapshot.version())
    };
    app.pool.run(check).await
}

/// The answer while groups are computed.
pub(crate) fn pending(retry_after: u32) -> HandlerResult {
    let body = json!({
        "status": "pending", "retry_after": retry_after,
        "detail": "the groups are being computed: ask again after that many seconds, and at least \
                   once a minute, or the computation ends",
    });
    let mut response = json(StatusCode::ACCEPTED, &body)?;
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after));
    Ok(response)
}

/// A cursor: the computation, the group, and the number of its duplicates on earlier pages.
#[derive(Clone, Copy)]
struct GroupsCursor {
    computed: i64,
    from: usize,
    skip: usize,
}

impl GroupsCursor {
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let computed = parts.next()?.parse::<u64>().ok()?;
        let from = parts.next()?.parse::<u64>().ok()?;
        let skip = parts.next().map_or(Some(0), |part| part.parse::<u64>().ok())?;
        let computed = i64::try_from(computed).ok().filter(|_| parts.next().is_none())?;
        Some(Self { computed, from: from as usize, skip: skip as usize })
    }

    /// The cursor of the next group.
    fn next(self) -> Self {
        Self { from: self.from + 1, skip: 0, ..self }
    }

    fn text(self) -> String {
        let Self { computed, from, skip } = self;
        if skip == 0 { format!("{computed}.{from}") } else { format!("{computed}.{from}.{skip}") }
    }
}

/// A page of groups, within the limits of a response.
struct GroupsAnswer<'a> {
    right: Right,
    snapshot: &'a mut dyn Snapshot,
    in_force: &'a DecisionsInForce,
    /// The decisions about texts that have changed since.
    changed: &'a HashSet<u64>,
    /// The categories of the index, if it has any.
    categories: Option<IndexCategories>,
    now: i64,
    /// Characters of the beginnings of texts that are shown.
    beginning: usize,
    documents: usize,
    bytes: usize,
    /// Documents, and bytes of texts, that were read to choose groups and to show beginnings.
    read_documents: usize,
    read_bytes: u64,
}

impl GroupsAnswer<'_> {
    fn is_full(&self) -> bool {
        self.documents >= LIST_DOCUMENTS || self.bytes >= LIST_BYTES
    }

    /// Whether so much was read that the list continues with the next request.
    fn has_read_enough(&self) -> bool {
        self.read_documents >= READ_DOCUMENTS || self.read_bytes >= READ_BYTES
    }

    /// Whether the keeper is in the category, or in one below it.
    fn is_in(&mut self, group: &DocumentGroup, category: CategoryNumber) -> Result<bool, Problem> {
        let Some(all) = &self.categories else { return Ok(false) };
        self.read_documents += 1;
        let Some(number) = self.snapshot.number_of(&group.keeper.id)? else { return Ok(false) };
        let found = all.of_document(&mut *self.snapshot, number)?;
        Ok(all.model().is_within(found, category))
    }

    /// Whether the group meets the conditions of the filter for which documents are read.
    fn fits(
        &mut self,
        group: &DocumentGroup,
        filter: &GroupFilter,
        category: Option<CategoryNumber>,
    ) -> Result<bool, Problem> {
        if let Some(category) = category
            && !self.is_in(group, category)?
        {
            return Ok(false);
        }
        if !filter.reads_documents() {
            return Ok(true);
        }
        let wanted = RecordFields {
            metadata: true,
            text: filter.search.is_some(),
            ..RecordFields::default()
        };
        let duplicates = group.duplicates.iter().map(|(member, _)| member);
        for member in std::iter::once(&group.keeper).chain(duplicates) {
            let Some(number) = self.snapshot.number_of(&member.id)? else { continue };
            self.read_documents += 1;
            self.read_bytes += if wanted.text { member.bytes } else { 0 };
            let right = self.right;
            let mut fits = false;
            self.snapshot.records(&[number], wanted, &mut |record| {
                let metadata = visible(&record.metadata, right);
                fits = filter.fits_document(&record.id, &metadata, record.text.as_deref());
                Ok(())
            })?;
            if fits {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A document; `None` if it has expired. A removed document has no metadata.
    fn member(&mut self, member: &GroupMember) -> Result<Option<MemberView>, Problem> {
        let has_beginning = self.beginning > 0 && self.read_bytes + member.bytes <= READ_BYTES;
        let wanted =
            RecordFields { metadata: true, text: has_beginning, ..RecordFields::default() };
        let mut metadata = Value::Null;
        let mut text = None;
        let mut is_expired = false;
        let now = self.now;
        let right = self.right;
        if let Some(number) = self.snapshot.number_of(&member.id)? {
            self.snapshot.records(&[number], wanted, &mut |record| {
                is_expired = record.is_expired(now);
                metadata = Value::Object(visible(&record.metadata, right).into_owned());
                text.clone_from(&record.text);
                Ok(())
            })?;
        }
        if is_expired {
            return Ok(None);
        }
        self.documents += 1;
        let first = text.as_deref().map(|text| beginning(text, self.beginning).to_owned());
        self.bytes += member.id.len() + metadata.to_string().len();
        self.bytes += first.as_ref().map_or(0, String::len);
        self.read_bytes += if has_beginning { member.bytes } else { 0 };
        let mut json = json!({ "id": member.id, "bytes": member.bytes, "metadata": metadata });
        if let Some(first) = first {
            json["beginning"] = first.into();
        }
        Ok(Some(MemberView { json, text }))
    }

    /// Returns a part of a group after `skip` duplicates, with at least one duplicate, and the
    /// number of duplicates passed. The part is `None` if the keeper, or all duplicates of the
    /// part, have expired.
    fn group(
        &mut self,
        group: &DocumentGroup,
        skip: usize,
    ) -> Result<(Option<Vec<u8>>, usize), Problem> {
        let all = group.duplicates.len();
        let mut passed = skip;
        let Some(keeper) = self.member(&group.keeper)? else { return Ok((None, all)) };
        let MemberView { json: mut keeper, text: keeper_text } = keeper;
        let keeper_id = &group.keeper.id;
        if self.in_force.is_kept(keeper_id, self.changed) {
            keeper["decision"] = Judgment::Keep.name().into();
        }
        if let Some(all) = &self.categories
            && let Some(number) = self.snapshot.number_of(keeper_id)?
        {
            keeper["category"] =
                category_cache::document_category(all, &mut *self.snapshot, number)?;
        }
        let judgments = self.in_force.of_group(keeper_id, self.changed);
        let mut duplicates = JsonList::default();
        for (duplicate, similarity) in group.duplicates.iter().skip(skip) {
            if duplicates.len > 0 && self.is_full() {
                break;
            }
            passed += 1;
            if let Some(MemberView { json: mut member, text }) = self.member(duplicate)? {
                member["similarity"] = (*similarity).into();
                // Equal sets may belong to different texts.
                if *similarity >= 1.0
                    && let Some((text, keeper_text)) = text.as_ref().zip(keeper_text.as_ref())
                {
                    member["equal_text"] = (text == keeper_text).into();
                }
                if let Some(judgment) = judgments.of(&duplicate.id) {
                    member["decision"] = judgment.name().into();
                }
                duplicates.push(&member)?;
            }
        }
        if duplicates.len == 0 {
            return Ok((None, passed));
        }
        let rest = json!({
            "keeper": keeper, "duplicates_before": skip, "duplicates_total": all,
        });
        Ok((Some(duplicates.into_object("duplicates", &rest)?), passed))
    }
}

/// A document of a group, and its text if it was read.
struct MemberView {
    json: Value,
    text: Option<String>,
}

/// The requested part of a list.
struct ListPart {
    at: GroupsCursor,
    limit: usize,
    stale: bool,
    right: Right,
    /// Whether to list groups that are decided about, or the other groups; `None` for all.
    decided: Option<bool>,
    order: GroupOrder,
    filter: GroupFilter,
    /// Characters of the beginnings of texts that are shown.
    beginning: usize,
}

/// Builds a page at `now` (in ns since 1970); returns whether another one follows.
fn show(
    index: &Index,
    found: &DocumentGroups,
    (in_force, cache): (&DecisionsInForce, &CategoryCache),
    part: &ListPart,
    now: i64,
) -> Result<(Vec<u8>, bool), Problem> {
    let ListPart { mut at, limit, stale, right, decided, order, ref filter, beginning } = *part;
    let mut review = found.review.lock();
    review.update(&found.groups, in_force);
    let mut snapshot = index.snapshot()?;
    // The documents may have changed or expired since the list was chosen.
    let stale = stale || found.is_stale(snapshot.version(), now);
    let documents_changed = found.has_other_documents(&mut *snapshot, now)?;
    let changed = &review.changed;
    let categories = cache.for_answer(&mut *snapshot)?;
    let named = |path| category_cache::named(categories.as_ref(), path);
    let category = filter.category.as_deref().map(named).transpose()?;
    let mut answer = GroupsAnswer {
        right,
        snapshot: &mut *snapshot,
        in_force,
        changed,
        categories,
        now,
        beginning,
        documents: 0,
        bytes: 0,
        read_documents: 0,
        read_bytes: 0,
    };
    let mut groups = JsonList::default();
    while let Some(place) = found.place(order, at.from)
        && groups.len < limit
    {
        let group = &found.groups[place];
        let is_other = decided.is_some_and(|decided| decided != review.is_decided(place));
        if is_other || !filter.fits(group) {
            at = at.next();
            continue;
        }
        if filter.reads_documents() || category.is_some() {
            if answer.has_read_enough() {
                break;
            }
            if !answer.fits(group, filter, category)? {
                at = at.next();
                continue;
            }
        }
        // A group that fits in the next response is not split.
        let is_too_much = answer.documents + group.duplicates.len() > LIST_DOCUMENTS;
        if groups.len > 0 && (is_too_much || answer.is_full()) {
            break;
        }
        let (json, passed) = answer.group(group, at.skip)?;
        if let Some(json) = json {
            groups.push_json(&json);
        }
        if passed < group.duplicates.len() {
            at.skip = passed;
            break;
        }
        at = at.next();
    }
    let mut rest = json!({
        "groups_total": found.groups.len(), "groups_decided": review.count,
        "groups_dissolved": review.dissolved, "documents_changed": documents_changed,
        "duplicates_total": found.duplicates, "documents": found.documents,
        "version": found.version, "stale": stale, "last_decision": in_force.last,
    });
    let has_more = at.from < found.groups.len();
    if has_more {
        rest["next"] = at.text().into();
    }
    Ok((groups.into_object("groups", &rest)?, has_more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::document_groups::StoredDocuments;
    use lookalike::core::params::{Params, ParamsBuilder};
    use lookalike::store::memory::MemoryBackend;
    use lookalike::store::settings::{IndexSettings, StoredContent};

    /// A page that leaves out an expired document says that its list is stale.
    #[test]
    fn lists_with_expired_documents_are_stale() {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let settings = IndexSettings::new(&params, "as written", StoredContent::Sets).unwrap();
        let index = Index::new(Box::new(MemoryBackend::new(settings))).unwrap();
        let version = index.snapshot().unwrap().version();
        let at = GroupsCursor { computed: 1, from: 0, skip: 0 };
        let decided = None;
        let order = GroupOrder::Size;
        let filter = GroupFilter::read(&QueryParameters::read(None, &[]).unwrap()).unwrap();
        let part = ListPart {
            at,
            limit: 10,
            stale: false,
            right: Right::Read,
            decided,
            order,
            filter,
            beginning: 0,
        };
        let stale_at = |version, now| {
            let list = DocumentGroups::new(Vec::new(), HashSet::new());
            let stored = StoredDocuments { expires: Some(1000), ..list.stored };
            let list = DocumentGroups { version, computed: 1, stored, ..list };
            let in_force = DecisionsInForce::default();
            let (page, _) =
                show(&index, &list, (&in_force, &CategoryCache::default()), &part, now).unwrap();
            serde_json::from_slice::<Value>(&page).unwrap()["stale"] == true
        };
        assert!(!stale_at(version, 999));
        assert!(stale_at(version, 1000));
        assert!(stale_at(version + 1, 999));
    }
}
