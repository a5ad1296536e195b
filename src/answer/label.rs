//! Which label is the gap label: the one of the configured name, and when that was renamed in GitLab, the same one
//! under its new name. Without this every open gap would look as if a human had taken its label off.

use std::sync::{Arc, PoisonError, RwLock};

use crate::answer::{WalkError, World};
use crate::gitlab::GapLabel;
use crate::store::setting::{FORMER_LABELS, LABEL};
use crate::store::{Store, StoreError};
use crate::target::ProjectId;

/// The name that the gap label has in GitLab, as far as was seen. Clones share it.
#[derive(Clone, Debug)]
pub struct LabelName(Arc<RwLock<String>>);

impl LabelName {
    /// Starts with the configured name.
    pub fn new(configured: &str) -> LabelName {
        LabelName(Arc::new(RwLock::new(configured.to_owned())))
    }

    /// The name.
    pub fn name(&self) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, name: &str) {
        name.clone_into(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The label as it is now, and from here on the name that it is known by.
pub(super) async fn found(world: &World, project: ProjectId) -> Result<Option<GapLabel>, WalkError> {
    let configured = &world.config.gap.label;
    if let Some(label) = world.gitlab.find_label(project, &world.label.name()).await? {
        seen(world, &label).await?;
        return Ok(Some(label));
    }
    // Renamed, perhaps; the id is of use only while the configuration means the same label.
    let label = match remembered(&world.store, configured).await? {
        Some(id) => world.gitlab.find_label_by_id(project, id).await?,
        None => None,
    };
    if let Some(label) = &label {
        tracing::warn!(
            label.id = label.group_id(),
            "the gap label was renamed; set gap.label to its new name"
        );
    }
    world.label.set(label.as_ref().map_or(configured, |label| label.name()));
    Ok(label)
}

/// The same; where there is none, it is created in the group under the configured name.
pub(super) async fn found_or_created(world: &World, project: ProjectId) -> Result<GapLabel, WalkError> {
    if let Some(label) = found(world, project).await? {
        return Ok(label);
    }
    let label = world.gitlab.create_group_label(world.config.group(), &world.config.gap.label).await?;
    seen(world, &label).await?;
    Ok(label)
}

async fn seen(world: &World, label: &GapLabel) -> Result<(), WalkError> {
    let configured = &world.config.gap.label;
    if let (Some(id), true) = (label.group_id(), label.name() == configured) {
        let value = format!("{id} {configured}");
        if world.store.setting(LABEL).await?.as_deref() != Some(&value) {
            let former = former(&world.store, configured).await?;
            world.store.set(FORMER_LABELS, &former.join("\n")).await?;
            world.store.set(LABEL, &value).await?;
        }
    }
    Ok(())
}

/// The id of the group's label that was found under the configured name.
pub(crate) async fn remembered(store: &Store, configured: &str) -> Result<Option<u64>, StoreError> {
    let known = store.setting(LABEL).await?;
    let known = known.as_deref().and_then(|known| known.split_once(' '));
    Ok(known.filter(|(_, name)| *name == configured).and_then(|(id, _)| id.parse().ok()))
}

/// The names that the gap label was configured to have before. An issue that carries one of them was labelled by the bot, and
/// no human took anything off.
pub(super) async fn former(store: &Store, configured: &str) -> Result<Vec<String>, StoreError> {
    let last = store.setting(LABEL).await?;
    let last = last.as_deref().and_then(|known| known.split_once(' ')).map(|(_, name)| name.to_owned());
    let earlier = store.setting(FORMER_LABELS).await?.unwrap_or_default();
    let mut names: Vec<String> = earlier.lines().map(str::to_owned).chain(last).collect();
    names.sort();
    names.dedup();
    names.retain(|name| name != configured && !name.is_empty());
    Ok(names)
}
