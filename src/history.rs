//! The group's past: closed issues become signposts for similar questions. References and fingerprints are kept,
//! never text.

use crate::answer::{WalkError, World, remember};
use crate::gitlab::IssuesOf;

/// Closed issues that one reading looks at, the last changed first.
const READ_MAX: u64 = 5_000;

/// Reads the group's closed issues, reporting how many were read, and returns how many point somewhere. What was
/// read is kept, so that it may be interrupted.
///
/// # Errors
/// GitLab, the database.
pub async fn read(world: &World, progress: impl Fn(u64)) -> Result<usize, WalkError> {
    let mut listed = world.gitlab.closed_issues(&IssuesOf::Group(world.config.group().to_owned()))?;
    let (mut read, mut pointing) = (0, 0);
    while let Some(issues) = listed.next().await? {
        for issue in issues.into_iter().filter(|issue| !issue.confidential) {
            read += 1;
            progress(read);
            if remember(world, issue.project, issue.iid).await? {
                pointing += 1;
            }
            if read >= READ_MAX {
                return Ok(pointing);
            }
        }
    }
    Ok(pointing)
}
