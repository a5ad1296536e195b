//! The documentation sites as this replica knows them: declared in the configuration, discovered in repositories.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use url::Url;

use crate::answer::World;
use crate::docsite::Sites;
use crate::prose::references::ExtractContext;
use crate::reference::{ProjectPath, RepoPath};
use crate::section::Section;
use crate::store::StoreError;
use crate::target::Resolved;

/// The current table. Cheap to clone; all clones see the same.
#[derive(Clone)]
pub struct SiteTable(Arc<RwLock<Arc<Sites>>>);

impl SiteTable {
    /// A table of these sites.
    pub fn new(sites: Sites) -> SiteTable {
        SiteTable(Arc::new(RwLock::new(Arc::new(sites))))
    }

    /// The sites now.
    pub fn now(&self) -> Arc<Sites> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, sites: Sites) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(sites);
    }

    /// What the extractor needs to know about texts of `project`; `None` when the instance's address is no site.
    pub fn extract_context(&self, instance: &Url, project: &ProjectPath) -> Option<ExtractContext> {
        let addresses: Vec<String> =
            self.now().addresses().iter().map(|url| url.as_str().to_owned()).collect();
        ExtractContext::new(instance.as_str(), addresses.iter().map(String::as_str), project.clone()).ok()
    }

    /// The page of a section, for a citation.
    pub fn page(&self, place: &Resolved, sections: &[Section], of: usize) -> Option<String> {
        self.now().cite(&place.project().path, place.path(), sections, of)
    }
}

impl World {
    /// Rebuilds the table from the configuration and from what the repositories declare.
    ///
    /// # Errors
    /// The database.
    pub async fn refresh_docsites(&self) -> Result<(), StoreError> {
        let mut sites = Sites::declared(&self.config.corpus.docsite).on_instance(&self.config.gitlab.url);
        let mut files: BTreeMap<u64, Vec<(RepoPath, String)>> = BTreeMap::new();
        for (project, path, body) in self.store.docsites().await? {
            if let Some(path) = RepoPath::parse(&path) {
                files.entry(project).or_default().push((path, body));
            }
        }
        for row in self.store.projects().await? {
            let project = &row.project;
            let Some(files) = files.remove(&project.id).filter(|_| row.refusal.is_none()) else { continue };
            sites.discover(&project.path, project.forked_from.is_some(), &files);
            for (path, text) in files.iter().filter(|(path, text)| crate::docsite::moves_pages(path, text)) {
                sites.learn(&project.path, path, text);
            }
        }
        self.docsites.set(sites);
        Ok(())
    }
}
