//! Room of the admin listener.

/// Placeholder until the admin branch lands.
pub struct Admin;
impl Admin {
    /// Of.
    pub fn of(
        _w: &crate::answer::World,
        _m: &crate::telemetry::Metrics,
        _t: Option<secrecy::SecretString>,
    ) -> Admin {
        Admin
    }
}
/// Routes.
pub fn router(_a: Admin) -> axum::Router {
    axum::Router::new()
}
