//! Pages of documentation sites: to the source file and the heading that the page is made of.

use crate::docsite::Source;
use crate::gitlab::repository::TreeRow;
use crate::gitlab::resolve::{Stop, Walk, Why};
use crate::section::cut;
use crate::target::Resolved;
use crate::target::corpus::OpenProject;

impl Walk<'_> {
    pub(super) async fn page(&self, url: &str, anchor: Option<&str>) -> Result<Vec<Resolved>, Stop> {
        let mut stop = Stop::Dead(Why::NoSite);
        for source in self.sites.find(url) {
            match self.page_of(&source, anchor).await {
                Ok(place) => return Ok(vec![place]),
                Err(end @ (Stop::Failed(_) | Stop::Spent)) => return Err(end),
                // A page that is refused is not looked for elsewhere under the same name.
                Err(Stop::Barred(refusal)) => stop = Stop::Barred(refusal),
                Err(end) if !matches!(stop, Stop::Barred(_)) => stop = end,
                Err(_) => {}
            }
        }
        Err(stop)
    }

    async fn page_of(&self, source: &Source, anchor: Option<&str>) -> Result<Resolved, Stop> {
        let (open, head) = self.open(source.project()).await?;
        let row = self.source_row(&open, &head, source).await?;
        let place = self.place(&open, &head, &row, None, None)?;
        let Some(anchor) = anchor else { return Ok(place) };
        let text = self.text(&place).await?;
        let sections = cut(&row.path, &text);
        // An anchor that no heading has is dropped, and never repeated.
        let Some(section) = source.section(&sections, anchor).map(|at| &sections[at]) else {
            return Ok(place);
        };
        self.place(&open, &head, &row, Some(section.lines), section.anchor.clone())
    }

    /// The source file, as the head has it: by the generator's rule, or by looking through all sources where
    /// the rule cannot be turned round.
    async fn source_row(&self, open: &OpenProject, head: &str, source: &Source) -> Result<TreeRow, Stop> {
        let project = open.project().id;
        for candidate in source.candidates() {
            if let Some(row) = self.row(project, head, &candidate).await? {
                return Ok(row);
            }
        }
        let folder = source.search_below().ok_or(Stop::Dead(Why::NoPage))?;
        let tree = self.tree(project, head, folder).await?;
        let mut fitting = tree.iter().filter(|row| source.is_source(&row.path));
        let row = fitting.next().ok_or(Stop::Dead(Why::NoPage))?;
        if fitting.next().is_some() { Err(Stop::Dead(Why::Ambiguous)) } else { Ok(row.clone()) }
    }
}
