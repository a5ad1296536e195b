//! Of a page that exists in several languages the asker's is cited, otherwise the default one; as long as it covers
//! the question by its own text.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::answer::judgement::{self, Source};
use crate::answer::{WalkError, World};
use crate::docsite::translation::versions;
use crate::judge::{Judged, Policy};
use crate::prose::Question;
use crate::reply::Language;
use crate::target::ProjectId;

/// Takes out what might be cited in another language than the asker's, where the version to prefer covers the
/// question too. Its section is judged like any candidate, and put beside them where nobody put it forward.
pub(super) async fn prefer(
    world: &World,
    question: &Arc<Question>,
    policy: &Policy,
    mut sources: Vec<Source>,
    mut judged: Vec<Judged>,
) -> Result<(Vec<Source>, Vec<Judged>), WalkError> {
    let language = Language::at(question.weigh(|words| {
        let text = format!("{} {}", words.title, words.text);
        Language::detect(&text).index()
    }));
    let mut better: HashMap<u64, String> = HashMap::new();
    for one in judged.iter().filter(|one| one.probability >= policy.agree) {
        let source = &sources[one.key as usize];
        if let Some(path) = version(world, source.project, &source.path, language).await? {
            better.insert(one.key, path);
        }
    }
    let mut added = Vec::new();
    for (key, path) in &better {
        let counterpart = counterpart(world, &sources[*key as usize], path).await?;
        added.extend(counterpart.filter(|new| !sources.iter().any(|known| known.is_the_section_of(new))));
    }
    if !added.is_empty() {
        sources.extend(added);
        judged = judgement::judge(world, question, &sources).await?;
    }
    let covering: HashSet<(ProjectId, &str)> = judged
        .iter()
        .filter(|one| one.probability >= policy.quote)
        .map(|one| &sources[one.key as usize])
        .map(|source| (source.project, source.path.as_str()))
        .collect();
    judged.retain(|one| {
        let project = sources[one.key as usize].project;
        !better.get(&one.key).is_some_and(|path| covering.contains(&(project, path.as_str())))
    });
    Ok((sources, judged))
}

/// The version of a page that this asker is to be shown; `None` when it is the page itself.
async fn version(
    world: &World,
    project: ProjectId,
    page: &str,
    language: Language,
) -> Result<Option<String>, WalkError> {
    for path in versions(page, language.code()) {
        if path == page {
            return Ok(None);
        }
        if world.store.file(project, &path).await?.is_some_and(|file| file.skipped.is_none()) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The section of `path` that stands where `source` stands in its own file; `None` where the two files are cut
/// differently, for then nobody knows.
async fn counterpart(world: &World, source: &Source, path: &str) -> Result<Option<Source>, WalkError> {
    let here = world.store.sections_of_file(source.project, &source.path).await?;
    let mut there = world.store.sections_of_file(source.project, path).await?;
    let at = here.iter().position(|row| row.lines == source.lines);
    Ok(at.filter(|_| here.len() == there.len()).map(|at| source.translated(there.swap_remove(at))))
}
