//! The indexes of a server.

use crate::service_state::ServiceState;
use crate::state::app::App;
use crate::state::served_index::ServedIndex;
use crate::state::service::Service;
use axum::body::Bytes;
use lookalike::store::IndexError;
use std::sync::{Arc, OnceLock};

/// The indexes of a server.
pub(crate) struct ServedIndexes {
    /// The state that all indexes share.
    pub(crate) service: Arc<Service>,
    /// In the order of the command line. Addresses without a name are about the first one.
    pub(crate) all: Vec<Arc<App>>,
    /// The description of the API, without and with the names of indexes, each built at the first
    /// request for it.
    pub(crate) descriptions: [OnceLock<Bytes>; 2],
}

impl ServedIndexes {
    /// Starts the threads of each index; there is at least one.
    pub(crate) fn start(
        indexes: Vec<(ServedIndex, ServiceState)>,
        service: Arc<Service>,
    ) -> Result<Arc<Self>, IndexError> {
        let start = |(index, state)| App::start(index, state, &service);
        let all = indexes.into_iter().map(start).collect::<Result<_, _>>()?;
        Ok(Arc::new(Self { service, all, descriptions: Default::default() }))
    }

    /// Waits for the jobs of upkeep that run.
    pub(crate) fn finish_upkeep(&self) {
        self.all.iter().for_each(|app| app.upkeep.stop());
    }

    /// Interrupts the work on all indexes.
    pub(crate) fn interrupt(&self) {
        self.all.iter().for_each(|app| app.index.interrupt());
    }

    /// Finishes submitted work and ends all threads.
    pub(crate) fn stop(&self) {
        self.service.threads.stop();
        self.all.iter().for_each(|app| app.stop());
        self.service.log.stop();
    }
}
