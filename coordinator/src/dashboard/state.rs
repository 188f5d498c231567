//! Shared state of a dashboard's server, and the responses that need it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use strata_proto::net::Security;
use strata_proto::platform::{Instant, Platform};

use crate::dashboard::access::HostNames;
use crate::dashboard::alerts::{Alert, AlertRules};
use crate::dashboard::charts::{self, ChartRequest};
use crate::dashboard::job_data::JobData;
use crate::dashboard::live::{Compute, Frame, Live, Topic};
use crate::dashboard::model::{Job, LogEntry, Overview, Solution};
use crate::dashboard::session::Sessions;
use crate::dashboard::source::{Source, SourceError};

/// Most jobs whose data is kept.
const JOBS: usize = 4;

/// Most solutions that are kept.
const SOLUTIONS: usize = 4;

/// State that all requests share.
pub(crate) struct Shared {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) platform: Arc<dyn Platform>,
    pub(crate) security: Security,
    pub(crate) hosts: HostNames,
    pub(crate) sessions: Sessions,
    pub(crate) live: Arc<Live>,
    begun: Instant,
    alerts: Mutex<AlertRules>,
    jobs: Mutex<Recent<Arc<Mutex<JobData>>>>,
    solutions: Mutex<Recent<Arc<Solution>>>,
    /// Held while a solution is traced: one at a time.
    tracing: tokio::sync::Mutex<()>,
}

/// Cache of the most recently used values, by id.
struct Recent<T> {
    most: usize,
    /// Values by id, with the number of the last use.
    values: HashMap<String, (u64, T)>,
    uses: u64,
}

impl<T: Clone> Recent<T> {
    fn new(most: usize) -> Self {
        Self { most, values: HashMap::new(), uses: 0 }
    }

    fn get(&mut self, id: &str) -> Option<T> {
        self.uses += 1;
        let (used, value) = self.values.get_mut(id)?;
        *used = self.uses;
        Some(value.clone())
    }

    fn insert(&mut self, id: &str, value: T) {
        self.uses += 1;
        if self.values.len() >= self.most {
            let oldest = self.values.iter().min_by_key(|(_, (used, _))| *used);
            oldest.map(|(id, _)| id.clone()).and_then(|id| self.values.remove(&id));
        }
        self.values.insert(id.to_owned(), (self.uses, value));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A job with the version of its charts, as it is sent.
#[derive(Serialize)]
struct ShownJob<'a> {
    job: &'a Job,
    /// A number that changes with the charts; `None` if there are more layers than they show.
    charts: Option<u64>,
}

/// An overview with its alerts, as it is sent.
#[derive(Serialize)]
struct ShownOverview<'a> {
    #[serde(flatten)]
    overview: &'a Overview,
    alerts: Vec<Alert>,
}

impl Shared {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        platform: Arc<dyn Platform>,
        security: Security,
        hosts: HostNames,
    ) -> Shared {
        Shared {
            source,
            platform,
            security,
            hosts,
            sessions: Sessions::default(),
            live: Arc::default(),
            begun: Instant::now(),
            alerts: Mutex::default(),
            jobs: Mutex::new(Recent::new(JOBS)),
            solutions: Mutex::new(Recent::new(SOLUTIONS)),
            tracing: tokio::sync::Mutex::default(),
        }
    }

    /// Runs a call of the source outside the asynchronous threads.
    ///
    /// # Errors
    /// Those of the call; `Unavailable` if it panics.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Source) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let source = Arc::clone(&self.source);
        let done = self.platform.blocking(move || call(&*source)).await;
        done.unwrap_or_else(|panicked| Err(SourceError::Unavailable(panicked.to_string())))
    }

    /// The function that computes the frames of a topic.
    pub(crate) fn compute(self: &Arc<Self>, topic: Topic) -> Compute {
        let shared = Arc::clone(self);
        Box::new(move || {
            let (shared, topic) = (Arc::clone(&shared), topic.clone());
            Box::pin(async move {
                let frame = match topic {
                    None => shared.overview_frame().await,
                    Some(id) => shared.job_frame(id).await,
                };
                frame.unwrap_or_else(|error| {
                    let kind = match error {
                        SourceError::NoSuchJob(_) => "gone",
                        SourceError::Refused(_) | SourceError::Unavailable(_) => "problem",
                    };
                    Frame::from([(kind, json(&error.to_string()).into())])
                })
            })
        })
    }

    async fn overview_frame(&self) -> Result<Frame, SourceError> {
        let overview = self.blocking(|source| source.overview()).await?;
        let now = self.begun.elapsed().as_secs_f64();
        let alerts = lock(&self.alerts).apply(&overview, now);
        let text = json(&ShownOverview { overview: &overview, alerts });
        Ok(Frame::from([("overview", text.into())]))
    }

    async fn job_frame(self: &Arc<Self>, id: String) -> Result<Frame, SourceError> {
        self.with_job(id, |data| {
            let job = json(&ShownJob { job: &data.job, charts: data.charts_version() });
            let entries: Vec<&LogEntry> = data.entries.iter().collect();
            Frame::from([("job", job.into()), ("log", json(&entries).into())])
        })
        .await
    }

    /// A chart of a job as SVG. It is drawn once for all viewers.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) async fn chart(
        self: &Arc<Self>,
        id: String,
        request: ChartRequest,
    ) -> Result<Arc<str>, SourceError> {
        self.with_job(id, move |data| {
            if let Some(chart) = data.charts.get(&request) {
                return Arc::clone(chart);
            }
            let chart: Arc<str> = charts::draw(data.drawn(), request).into();
            // Bounded: viewers can request many sizes.
            if data.charts.len() >= charts::KEPT {
                data.charts.clear();
            }
            data.charts.insert(request, Arc::clone(&chart));
            chart
        })
        .await
    }

    /// Updates a job's data and reads it, outside the asynchronous threads.
    async fn with_job<T: Send + 'static>(
        self: &Arc<Self>,
        id: String,
        read: impl FnOnce(&mut JobData) -> T + Send + 'static,
    ) -> Result<T, SourceError> {
        let shared = Arc::clone(self);
        self.blocking(move |source| {
            let kept = lock(&shared.jobs).get(&id);
            let data = kept.clone().unwrap_or_default();
            let mut data_now = lock(&data);
            data_now.update(source, &id, Instant::now())?;
            if kept.is_none() {
                lock(&shared.jobs).insert(&id, Arc::clone(&data));
            }
            Ok(read(&mut data_now))
        })
        .await
    }

    /// The moves of a job's solution.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) async fn solution(&self, id: &str) -> Result<Arc<Solution>, SourceError> {
        let _one = self.tracing.lock().await;
        if let Some(solution) = lock(&self.solutions).get(id) {
            return Ok(solution);
        }
        let job = id.to_owned();
        let solution = Arc::new(self.blocking(move |source| source.solution(&job)).await?);
        lock(&self.solutions).insert(id, Arc::clone(&solution));
        Ok(solution)
    }
}

/// A value as JSON. Line breaks, which end an event, are escaped in it.
pub(crate) fn json(value: &impl Serialize) -> String {
    // This cannot fail: maps have text keys, and all numbers are finite or null.
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_recently_used_values_are_kept() {
        let mut recent = Recent::new(2);
        recent.insert("a", 1);
        recent.insert("b", 2);
        assert_eq!(recent.get("a"), Some(1));
        recent.insert("c", 3);
        assert_eq!((recent.get("a"), recent.get("b"), recent.get("c")), (Some(1), None, Some(3)));
    }
}
