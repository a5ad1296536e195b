//! The gap label. GitLab creates a label whose name it does not know, silently and in the wrong place; so the
//! name is looked up first, and only what was found can be set. A renamed label keeps its id, and is known by it.

use gitlab::api::projects::labels::Labels as ProjectLabels;
use http::Method;
use serde_json::{Value, json};

use crate::gitlab::GitLab;
use crate::gitlab::endpoint::{Own, segment};
use crate::gitlab::error::{Error, absent};
use crate::gitlab::http::Limits;
use crate::gitlab::wire::LabelRow;
use crate::target::ProjectId;

/// Pages of labels that are looked through; GitLab narrows them by the searched name first.
const PAGES: usize = 20;

/// Colour of the gap label where it has to be created.
const COLOR: &str = "#d9534f";
/// Its description.
const DESCRIPTION: &str = "A question that the documentation does not answer";

/// A label that exists under exactly this name. Only a look-up or its creation makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapLabel {
    id: u64,
    name: String,
    of_group: bool,
}

impl GapLabel {
    /// The exact name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// GitLab's id of it, which a renaming leaves as it is; `None` for a label of one project, which stands for no other.
    pub fn group_id(&self) -> Option<u64> {
        self.of_group.then_some(self.id)
    }
}

impl From<LabelRow> for GapLabel {
    fn from(row: LabelRow) -> GapLabel {
        tracing::trace!(label.id = row.id, "label found");
        GapLabel { id: row.id, name: row.name, of_group: !row.is_project_label }
    }
}

fn by_id(rows: Vec<LabelRow>, id: u64) -> Option<GapLabel> {
    rows.into_iter().find(|row| row.id == id && !row.archived).map(GapLabel::from)
}

fn exact(rows: Vec<LabelRow>, name: &str) -> Option<GapLabel> {
    rows.into_iter().find(|row| row.name == name && !row.archived).map(GapLabel::from)
}

impl GitLab {
    /// The label of exactly this name that issues of the project can carry: its own, or one of a group above.
    pub async fn find_label(&self, project: ProjectId, name: &str) -> Result<Option<GapLabel>, Error> {
        Ok(exact(self.labels_of(project, Some(name)).await?, name))
    }

    /// The label of this id, whatever its name is now, if issues of the project can carry it.
    pub async fn find_label_by_id(&self, project: ProjectId, id: u64) -> Result<Option<GapLabel>, Error> {
        Ok(by_id(self.labels_of(project, None).await?, id))
    }

    /// The labels that issues of the project can carry, those that hold `search`; none when there is no such project.
    async fn labels_of(&self, project: ProjectId, search: Option<&str>) -> Result<Vec<LabelRow>, Error> {
        let mut endpoint = ProjectLabels::builder();
        endpoint.project(project).include_ancestor_groups(true);
        if let Some(text) = search {
            endpoint.search(text);
        }
        let endpoint = endpoint.build().expect("every required field is given");
        let rows = absent(self.http.pages(&endpoint)?.collect(PAGES).await)?;
        Ok(rows.map(|(rows, _)| rows).unwrap_or_default())
    }

    /// The label of exactly this name of the group or a group above it.
    pub async fn find_group_label(&self, group: &str, name: &str) -> Result<Option<GapLabel>, Error> {
        Ok(exact(self.labels_of_group(group, Some(name)).await?, name))
    }

    /// The group's label of this id, whatever its name is now.
    pub async fn find_group_label_by_id(&self, group: &str, id: u64) -> Result<Option<GapLabel>, Error> {
        Ok(by_id(self.labels_of_group(group, None).await?, id))
    }

    /// The labels of a group and of the groups above it, those that hold `search`; none when there is no such group.
    async fn labels_of_group(&self, group: &str, search: Option<&str>) -> Result<Vec<LabelRow>, Error> {
        let endpoint = Own::get(format!("groups/{}/labels", segment(group)));
        let endpoint = match search {
            Some(text) => endpoint.with("search", text),
            None => endpoint,
        };
        let endpoint = endpoint.with("include_ancestor_groups", true);
        let rows = absent(self.http.pages(&endpoint)?.collect(PAGES).await)?;
        Ok(rows.map(|(rows, _)| rows).unwrap_or_default())
    }

    /// Creates the label in the group, with colour and description. When somebody else just did, that one is it.
    pub async fn create_group_label(&self, group: &str, name: &str) -> Result<GapLabel, Error> {
        let body = json!({ "name": name, "color": COLOR, "description": DESCRIPTION });
        let endpoint = Own::send(Method::POST, format!("groups/{}/labels", segment(group)), body);
        match self.http.json::<LabelRow>(&endpoint).await {
            Ok(row) => Ok(GapLabel::from(row)),
            // 400 and 409 both have been "already taken".
            Err(error @ Error::Broken(_)) => self.find_group_label(group, name).await?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Puts the label on an issue; without effect when it is there.
    pub async fn add_label(&self, project: ProjectId, iid: u64, label: &GapLabel) -> Result<(), Error> {
        self.edit_issue(project, iid, json!({ "add_labels": label.name })).await
    }

    /// Takes the label off an issue; without effect when it is not there.
    pub async fn remove_label(&self, project: ProjectId, iid: u64, label: &GapLabel) -> Result<(), Error> {
        self.edit_issue(project, iid, json!({ "remove_labels": label.name })).await
    }

    /// `PUT` of an issue: doing it twice is doing it once, so the queue may repeat it.
    async fn edit_issue(&self, project: ProjectId, iid: u64, body: Value) -> Result<(), Error> {
        let endpoint = Own::send(Method::PUT, format!("projects/{project}/issues/{iid}"), body);
        self.http.raw(&endpoint, Limits::JSON).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_name_is_the_label() {
        let rows = |names: &[&str]| -> Vec<LabelRow> {
            names
                .iter()
                .enumerate()
                .map(|(id, name)| LabelRow {
                    id: id as u64,
                    name: (*name).into(),
                    archived: false,
                    is_project_label: false,
                })
                .collect()
        };
        assert_eq!(exact(rows(&["Documentation-Gap", "documentation-gap-2"]), "documentation-gap"), None);
        assert!(exact(rows(&["x", "documentation-gap"]), "documentation-gap").is_some());
    }
}
