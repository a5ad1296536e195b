//! The third check: does the passage cover the question?

use crate::judge::{Decision, Judge, Judged, Policy, decide};
use crate::prose::Question;
use crate::section::{Section, best_quote};
use crate::target::{Blob, Citation, Validated};

/// A judged section with the content it is to be cited from.
#[derive(Clone, Debug)]
pub struct Weighed {
    /// The file as it was read with its admission.
    pub blob: Blob,
    /// The section of that file.
    pub section: Section,
    /// What the judge said of that section.
    pub judged: Judged,
    /// The documentation site's address of the section, where there is one.
    pub page: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Uncovered {
    /// The judge's numbers do not reach the threshold, or it is no question: the decision says which.
    Undecided(Decision),
    /// The section in the file is not the text that was judged: the file has changed. Judge again.
    Changed {
        /// The key of the section.
        key: u64,
    },
    /// The section has nothing that can be quoted.
    Unquotable {
        /// The key of the section.
        key: u64,
    },
}

/// Checks that the judged sections cover the question, and picks the lines to quote: the one constructor of
/// [`Validated`]. `kind` is the score of the question gate. Every section that is cited is compared with the text
/// that the judge read; up to two further ones that the policy lets stand beside the best are linked.
pub fn cover(
    judge: &Judge,
    question: &Question,
    kind: f32,
    policy: &Policy,
    mut sections: Vec<Weighed>,
) -> Result<Validated, Uncovered> {
    sections.sort_by(|a, b| b.judged.probability.total_cmp(&a.judged.probability));
    let judged: Vec<Judged> = sections.iter().map(|section| section.judged).collect();
    let keys = match decide(policy, kind, &judged) {
        Decision::Answer(keys) => keys,
        other => return Err(Uncovered::Undecided(other)),
    };
    let mut cited = sections.into_iter().filter(|section| keys.contains(&section.judged.key));
    let best = cited.next().ok_or(Uncovered::Undecided(Decision::Silent))?;
    let best = citation(judge, question, best)?;
    // A further target that changed meanwhile is left out; the answer stands on the best one.
    let further = cited.filter_map(|section| citation(judge, question, section).ok()).collect();
    Ok(Validated { best, further })
}

fn citation(judge: &Judge, question: &Question, weighed: Weighed) -> Result<Citation, Uncovered> {
    let Weighed { blob, section, judged, page } = weighed;
    let text = blob.text();
    if !text.get(section.bytes.clone()).is_some_and(|own| judged.is_of(own)) {
        return Err(Uncovered::Changed { key: judged.key });
    }
    let quote = best_quote(&section, text, |blocks| judge.weigh_blocks(question, blocks))
        .ok_or(Uncovered::Unquotable { key: judged.key })?;
    let (lines, bytes) = (quote.lines, quote.bytes);
    Ok(Citation { blob, section, lines, bytes, page, score: judged.probability })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::prose::Prose;
    use crate::reference::RepoPath;
    use crate::section::cut;
    use crate::target::corpus::{Audience, Corpus, Scope};
    use crate::target::{Admitted, Project, Resolved};

    const TEXT: &str = "# Keys\n\nAdd the new key first.\n";

    fn admitted(path: &RepoPath) -> Admitted {
        let scope = Scope {
            group: "acme".into(),
            exclude: Vec::new(),
            docs: vec!["*.md".into()],
            code: Vec::new(),
            ignore: Vec::new(),
            members: false,
        };
        let project = Arc::new(Project::sample(7, "acme/docs"));
        let audience = Audience::of_thread(&project);
        let (commit, blob) = ("c".repeat(40), "b".repeat(40));
        let place = Resolved::observed(project, commit, path.clone(), blob, "100644".into(), None, None);
        Corpus::new(&scope).expect("globs").admit(place, &audience).expect("admitted")
    }

    /// A section of [`TEXT`] that was judged when its file said `judged`.
    fn weighed(key: u64, judged: &str) -> Weighed {
        let path = RepoPath::parse("keys.md").expect("a path");
        let section = cut(&path, TEXT).remove(0);
        let judged = Judged::sample(key, 0.9, &judged[section.bytes.clone()]);
        Weighed { blob: Blob::read(admitted(&path), TEXT.into()), section, judged, page: None }
    }

    #[test]
    fn only_the_text_that_was_judged_is_cited() {
        let policy = Policy { question: 0.5, label: 0.6, cover: 0.7, quote: 0.5, agree: 0.6, near: 0.3 };
        let question = Question::new(&Prose::from("How?".to_owned()), &Prose::from(String::new()));
        let judge = Judge::load();
        let cover = |sections| cover(&judge, &question, 1.0, &policy, sections);
        let other = TEXT.replace("new", "old");
        let sound = cover(vec![weighed(1, TEXT), weighed(2, TEXT)]).expect("covered");
        assert_eq!(sound.further().len(), 1);
        assert!(matches!(cover(vec![weighed(1, &other)]), Err(Uncovered::Changed { key: 1 })));
        let left_out = cover(vec![weighed(1, TEXT), weighed(2, &other)]).expect("the best one is sound");
        assert!(left_out.further().is_empty());
    }
}
