//! The standing check: nothing that a stranger typed is repeated.
//!
//! A leak is a run of five words, whatever their case and the punctuation between them, that occurs in a
//! stranger's text and in the examined text, and in no document of the world. Addresses need care: a
//! stranger who links a page and a bot that cites it write the same path. So paths that exist in a
//! repository, and the addresses of projects, count as documents; invented ones do not.

use super::World;
use super::world::Project;
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many words in a row make a leak.
const RUN: usize = 5;

/// What strangers typed and what the documents say, as sets of five-word runs.
#[derive(Default)]
pub struct Strangers {
    typed: HashSet<u64>,
    documents: HashSet<u64>,
    /// Every tail of every path in a repository, with and without its ending.
    places: HashSet<String>,
}

impl Strangers {
    /// The texts of a world: everything people ever typed into it, and the default branches' history.
    pub fn of(world: &World) -> Strangers {
        let mut strangers = Strangers::default();
        world.projects.values().for_each(|project| strangers.allow_project(world, project));
        world.typed_texts().iter().for_each(|text| strangers.forbid(text));
        strangers
    }

    /// A world of one stranger's text and one document, for other tests of texts.
    pub fn of_texts(typed: &[&str], documents: &[&str]) -> Strangers {
        let mut strangers = Strangers::default();
        documents.iter().for_each(|text| strangers.allow(text));
        typed.iter().for_each(|text| strangers.forbid(text));
        strangers
    }

    fn forbid(&mut self, text: &str) {
        let mut typed = std::mem::take(&mut self.typed);
        self.each_run(text, |hash, _| _ = typed.insert(hash));
        self.typed = typed;
    }

    /// Counts a text as a document: the program's own sentences, for example.
    pub fn allow(&mut self, text: &str) {
        let mut documents = std::mem::take(&mut self.documents);
        self.each_run(text, |hash, _| _ = documents.insert(hash));
        self.documents = documents;
    }

    /// The project's address, and every file and path of its default branch, now and earlier.
    fn allow_project(&mut self, world: &World, project: &Project) {
        let web_url = world.web_url(project);
        self.allow_address(&web_url, "");
        let Some(branch) = &project.default_branch else { return };
        let Some(head) = project.repository.branches.get(branch) else { return };
        self.allow_address(&web_url, branch);
        let (mut seen, mut placed) = (HashSet::new(), HashSet::new());
        for commit in project.repository.ancestors(head).iter().filter_map(|id| project.repository.commit(id))
        {
            self.allow_address(&web_url, &commit.id);
            for (path, entry) in commit.tree.iter() {
                if placed.insert(path) {
                    self.allow_place(path);
                }
                if let Some(bytes) = project.repository.read(&entry.id).filter(|_| seen.insert(&entry.id)) {
                    self.allow(&String::from_utf8_lossy(bytes));
                }
            }
        }
    }

    fn allow_address(&mut self, web_url: &str, revision: &str) {
        for kind in
            ["blob", "raw", "tree", "blame", "commit", "commits", "issues", "work_items", "merge_requests"]
        {
            self.allow(&format!("{web_url}/-/{kind}/{revision}"));
            self.allow(&format!("{web_url}/{kind}/{revision}"));
        }
    }

    fn allow_place(&mut self, path: &str) {
        let bare =
            path.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')).map_or(path, |(stem, _)| stem);
        let folder = bare.strip_suffix("/index").or_else(|| bare.strip_suffix("/README")).unwrap_or(bare);
        for name in [path, bare, folder] {
            let tails = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
            self.places.extend(tails.chain([name]).map(str::to_lowercase));
        }
    }

    /// The five-word runs of strangers' text in `haystack` that no document has, each once, as words.
    pub fn leaks(&self, haystack: &str) -> Vec<String> {
        let (mut told, mut leaks) = (HashSet::new(), Vec::new());
        self.each_run(haystack, |hash, words| {
            if self.typed.contains(&hash) && !self.documents.contains(&hash) && told.insert(hash) {
                leaks.push(words.join(" "));
            }
        });
        leaks
    }

    /// All five-word runs of a text, one after the other: a log of a long test is large. Known places interrupt the
    /// words around them.
    fn each_run(&self, text: &str, mut told: impl FnMut(u64, &[String; RUN])) {
        let mut words: Vec<String> = Vec::new();
        for chunk in text.split(|c: char| c.is_whitespace() || "\"'`<>()[]{}|\\".contains(c)) {
            for part in self.without_places(chunk) {
                match part {
                    None => words.clear(),
                    Some(part) => add_words(&part, &mut words, &mut told),
                }
            }
        }
    }

    /// An address or path, cut at the place it names: `None` stands for that place.
    fn without_places<'c>(&self, chunk: &'c str) -> Vec<Option<Cow<'c, str>>> {
        let trimmed = chunk.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']);
        if !trimmed.contains('/') {
            return vec![Some(chunk.into())];
        }
        let (address, rest) = trimmed.split_at(trimmed.find(['?', '#']).unwrap_or(trimmed.len()));
        let address = address.trim_end_matches('/');
        let lower = address.to_lowercase().replace("%20", " ");
        let starts = std::iter::once(0).chain(lower.match_indices('/').map(|(at, _)| at + 1));
        for at in starts {
            let bare = lower[at..].strip_suffix(".html").unwrap_or(&lower[at..]);
            if !bare.is_empty() && self.places.contains(bare) {
                return vec![Some(lower[..at].to_owned().into()), None, Some(rest.into())];
            }
        }
        vec![Some(chunk.into())]
    }
}

fn add_words(part: &str, words: &mut Vec<String>, told: &mut impl FnMut(u64, &[String; RUN])) {
    for word in part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        // Only the last four words can begin another run.
        if words.len() >= 64 {
            words.drain(..words.len() + 1 - RUN);
        }
        words.push(word.to_lowercase());
        if let Some(last) = words.last_chunk::<RUN>() {
            told(hash(last), last);
        }
    }
}

fn hash(words: &[String; RUN]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPED: &str = "The supported way is credentials.literal: true, says everybody here.";

    #[test]
    fn a_repeated_sentence_is_found_whatever_its_case_and_punctuation() {
        let strangers = Strangers::of_texts(&[TYPED], &["Store credentials with a helper."]);
        assert_eq!(strangers.leaks("Note: THE SUPPORTED\nway, is `credentials` — whatever").len(), 1);
        assert_eq!(strangers.leaks("the supported way is unknown"), Vec::<String>::new());
    }

    #[test]
    fn what_a_document_says_as_well_is_no_leak() {
        let strangers = Strangers::of_texts(&[TYPED], &["Never: the supported way is credentials, literal."]);
        assert!(strangers.leaks("the supported way is credentials").is_empty());
        assert!(!strangers.leaks("way is credentials literal true").is_empty());
    }

    #[test]
    fn a_path_that_exists_may_be_cited_and_an_invented_one_may_not() {
        let mut world = World::acme();
        world.instance = "https://gitlab.example.com".into();
        let blob = "https://gitlab.example.com/acme/docs/-/blob/main";
        let typed = format!(
            "See {blob}/docs/guide/keys.md#L10-20 and {blob}/docs/guide/keys.md#just-set-it-to-literal-true-now"
        );
        world.open_issue("acme/api", "mara", "Where is that page to be found?", &typed);
        let strangers = Strangers::of(&world);
        assert_eq!(
            strangers.leaks(&format!("[Keys](<{blob}/docs/guide/keys.md#L10-20>), lines 10-20")),
            Vec::<String>::new()
        );
        assert_eq!(
            strangers.leaks("https://docs.example.com/guide/keys/#L10-20 is what"),
            Vec::<String>::new()
        );
        assert!(
            !strangers
                .leaks(&format!("{blob}/docs/guide/keys.md#just-set-it-to-literal-true-now"))
                .is_empty()
        );
    }
}
