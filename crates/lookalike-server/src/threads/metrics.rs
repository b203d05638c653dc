//! Metrics of the server, in the text format of Prometheus.
//!
//! These lines replace the crate `prometheus`. Its registry would save the 60 lines that write the
//! text, but needs as many lines to register each value and to read the gauges of an index at a
//! request.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets of durations, in µs.
const BOUNDS_US: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    5_000_000, 30_000_000,
];
/// Upper bounds of the buckets of batch sizes.
const BOUNDS_SIZE: [u64; 8] = [1, 2, 5, 10, 50, 100, 1_000, 10_000];

/// The counters of a running server.
pub(crate) struct Metrics {
    /// Requests by labels of index and route, method and status; durations by labels.
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    durations: Mutex<BTreeMap<String, Histogram>>,
    pub(crate) in_flight: AtomicUsize,
    pub(crate) connections: AtomicUsize,
    /// Sizes of write batches.
    pub(crate) sizes: Arc<Mutex<Histogram>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Mutex::default(),
            durations: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            sizes: Arc::new(Mutex::new(Histogram::new(&BOUNDS_SIZE))),
        }
    }
}

/// Counts of values in buckets.
pub(crate) struct Histogram {
    bounds: &'static [u64],
    /// A count for each bound, then a count of larger values.
    counts: Vec<u64>,
    sum: u64,
}

impl Histogram {
    fn new(bounds: &'static [u64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0 }
    }

    pub(crate) fn record(&mut self, value: u64) {
        let bucket = self.bounds.iter().position(|bound| value <= *bound);
        self.counts[bucket.unwrap_or(self.bounds.len())] += 1;
        self.sum += value;
    }

    /// Writes the histogram. `labels` is empty or ends with a comma. Values are divided by `unit`.
    fn write(&self, out: &mut String, name: &str, labels: &str, unit: f64) {
        let mut count = 0;
        for (bound, more) in self.bounds.iter().zip(&self.counts) {
            count += more;
            let bound = *bound as f64 / unit;
            let _ = writeln!(out, "{name}_bucket{{{labels}le=\"{bound}\"}} {count}");
        }
        let count: u64 = self.counts.iter().sum();
        let _ = writeln!(out, "{name}_bucket{{{labels}le=\"+Inf\"}} {count}");
        let braces = match labels.trim_end_matches(',') {
            "" => String::new(),
            labels => format!("{{{labels}}}"),
        };
        let _ = writeln!(out, "{name}_sum{braces} {}", self.sum as f64 / unit);
        let _ = writeln!(out, "{name}_count{braces} {count}");
    }
}

/// A value at the time of the request, of the service or of an index.
pub(crate) struct Gauge {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) index: Option<String>,
    pub(crate) value: f64,
}

/// The label of an index, followed by a comma. Names have no characters to escape.
fn index_label(index: Option<&str>) -> String {
    index.map(|name| format!("index=\"{name}\",")).unwrap_or_default()
}

impl Metrics {
    /// Counts a request that was answered. Routes and methods are from fixed lists.
    pub(crate) fn request(
        &self,
        index: Option<&str>,
        route: &str,
        method: &str,
        status: u16,
        took: Duration,
    ) {
        let labels = format!("{}route=\"{route}\"", index_label(index));
        let key = (labels.clone(), method.to_owned(), status);
        let mut requests = self.requests.lock();
        *requests.entry(key).or_default() += 1;
        drop(requests);
        let mut durations = self.durations.lock();
        let histogram = durations.entry(labels).or_insert_with(|| Histogram::new(&BOUNDS_US));
        histogram.record(took.as_micros() as u64);
    }

    /// The metrics as text.
    pub(crate) fn render(&self, gauges: &[Gauge]) -> String {
        let mut out = String::new();
        head(&mut out, "lookalike_requests_total", "counter", "Requests that were answered.");
        let requests = self.requests.lock();
        for ((labels, method, status), count) in &*requests {
            let _ = writeln!(
                out,
                "lookalike_requests_total{{{labels},method=\"{method}\",\
                 status=\"{status}\"}} {count}"
            );
        }
        drop(requests);
        let name = "lookalike_request_duration_seconds";
        head(&mut out, name, "histogram", "From the head of a request to its answer.");
        for (labels, histogram) in &*self.durations.lock() {
            histogram.write(&mut out, name, &format!("{labels},"), 1e6);
        }
        let name = "lookalike_write_changes";
        head(&mut out, name, "histogram", "Changes that were written at once.");
        self.sizes.lock().write(&mut out, name, "", 1.0);
        // The values of all indexes follow one head.
        let by_name = gauges.iter().map(|gauge| gauge.name).collect::<Vec<_>>();
        for (place, Gauge { name, help, .. }) in gauges.iter().enumerate() {
            if by_name[..place].contains(name) {
                continue;
            }
            let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
            head(&mut out, name, kind, help);
            for Gauge { index, value, .. } in gauges.iter().filter(|other| other.name == *name) {
                let label = index_label(index.as_deref());
                let _ = match label.trim_end_matches(',') {
                    "" => writeln!(out, "{name} {value}"),
                    label => writeln!(out, "{name}{{{label}}} {value}"),
                };
            }
        }
        out
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Increments a counter until it is dropped.
pub(crate) struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    pub(crate) fn one(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_counts_up() {
        let metrics = Metrics::default();
        metrics.request(None, "/v1/stats", "GET", 200, Duration::from_micros(300));
        metrics.request(None, "/v1/stats", "GET", 200, Duration::from_secs(60));
        metrics.request(Some("news"), "/v1/stats", "GET", 404, Duration::from_secs(1));
        metrics.sizes.lock().record(3);
        let gauge = |name, index: Option<&str>, value| {
            let index = index.map(str::to_owned);
            Gauge { name, help: "D.", index, value }
        };
        let text = metrics.render(&[
            gauge("lookalike_documents", None, 7.0),
            gauge("lookalike_groups_age_seconds", Some("a"), 1.0),
            gauge("lookalike_index_bytes", Some("a"), 2.0),
            gauge("lookalike_groups_age_seconds", Some("b"), 3.0),
        ]);
        let expected = [
            "lookalike_requests_total{route=\"/v1/stats\",method=\"GET\",status=\"200\"} 2\n",
            "lookalike_request_duration_seconds_bucket{route=\"/v1/stats\",le=\"0.00025\"} 0\n",
            "lookalike_request_duration_seconds_bucket{route=\"/v1/stats\",le=\"0.0005\"} 1\n",
            "lookalike_request_duration_seconds_bucket{route=\"/v1/stats\",le=\"+Inf\"} 2\n",
            "lookalike_request_duration_seconds_sum{route=\"/v1/stats\"} 60.0003\n",
            "lookalike_write_changes_bucket{le=\"5\"} 1\n",
            "lookalike_write_changes_count 1\n",
            "# TYPE lookalike_documents gauge\nlookalike_documents 7\n",
            "lookalike_requests_total{index=\"news\",route=\"/v1/stats\",method=\"GET\",\
             status=\"404\"} 1\n",
            "lookalike_request_duration_seconds_count{index=\"news\",route=\"/v1/stats\"} 1\n",
            "gauge\nlookalike_groups_age_seconds{index=\"a\"} 1\n\
             lookalike_groups_age_seconds{index=\"b\"} 3\n",
        ];
        for line in expected {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
