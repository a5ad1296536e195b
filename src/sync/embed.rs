//! Dense vectors of sections, computed in the background and kept in the database.

use std::sync::Arc;

use crate::clock::Clock;
use crate::library::alone;
use crate::search::Vector;
use crate::section::passages;
use crate::store::corpus::SectionRow;
use crate::store::{Store, StoreError};

/// Passages of one section that get a vector; what follows is found by its words.
const PASSAGES: usize = 8;

/// Embeds up to `limit` sections that have no vector yet, and returns how many. The arithmetic runs on a
/// blocking thread.
///
/// # Errors
/// The database.
pub async fn embed_some(
    store: &Store,
    reader: &Arc<signpost_reader::Reader>,
    clock: &Clock,
    limit: u32,
) -> Result<usize, StoreError> {
    let rows = store.sections_without_vector(limit).await?;
    if rows.is_empty() {
        return Ok(0);
    }
    let reader = Arc::clone(reader);
    let embedded = tokio::task::spawn_blocking(move || {
        rows.into_iter()
            .map(|row| {
                let vector = vectors(&reader, &row);
                (row, vector)
            })
            .collect::<Vec<_>>()
    })
    .await
    .unwrap_or_default();
    store.save_vectors(&embedded, clock.now()).await?;
    Ok(embedded.len())
}

fn vectors(reader: &signpost_reader::Reader, row: &SectionRow) -> Vec<u8> {
    let section = alone(row);
    let heading = row.headings.join(" > ");
    let ranges = passages(&section, &row.body).into_iter().take(PASSAGES);
    ranges
        .flat_map(|range| Vector::quantise(&reader.embed_passage(&heading, &row.body[range])).to_bytes())
        .collect()
}
