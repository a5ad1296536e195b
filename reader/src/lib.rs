//! Placeholder, replaced by the trained reader.
/// r
pub struct Reader;
impl Reader {
    /// l
    pub fn load() -> Reader {
        Reader
    }
    /// e
    pub fn embed_passage(&self, _h: &str, _t: &str) -> Vec<f32> {
        vec![0.0; 384]
    }
    /// q
    pub fn embed_question(&self, _t: &str) -> Vec<f32> {
        vec![0.0; 384]
    }
}
