//! A setting that finds more than that of a run.

use crate::tune::SettingProfile;

/// A setting that finds more than that of a run which found few documents.
#[derive(Debug, Clone)]
pub struct BetterSetting {
    /// What the setting of the run finds, all pairs compared.
    pub used: SettingProfile,
    /// What the other setting finds.
    pub better: SettingProfile,
}
