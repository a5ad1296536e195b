use proptest::prelude::*;

use super::*;
use crate::prose::Prose;

fn question(title: &str, text: &str) -> Question {
    Question::new(&Prose::from(title.to_owned()), &Prose::from(text.to_owned()))
}

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name).unwrap()
}

/// An index of sections, each a heading and a text; section and file are numbered alike.
fn index(project: ProjectId, sections: &[(&str, &str)]) -> Index {
    let mut index = Index::new().unwrap();
    for (id, (heading, text)) in sections.iter().enumerate() {
        add(&mut index, project, id as u64, heading, text, Vec::new());
    }
    index.commit().unwrap();
    index
}

fn add(index: &mut Index, project: ProjectId, id: u64, heading: &str, text: &str, vectors: Vec<Vector>) {
    let heading_path = [heading.to_owned()];
    let entry = Entry { id, heading_path: &heading_path, passages: vec![text], kind: Kind::Doc, vectors };
    index.replace_file(project, &path(&format!("docs/{id}.md")), vec![entry]).unwrap();
}

fn ids(index: &Index, title: &str) -> Vec<u64> {
    index.find(&question(title, ""), None, 10, &|_| true).unwrap().into_iter().map(|found| found.id).collect()
}

#[test]
fn stems_and_parts_of_identifiers_are_found() {
    let index = index(
        1,
        &[
            ("Cache", "Caches are kept in the folder that UV_CACHE_DIR names."),
            ("Other", "Nothing of the kind."),
            ("Code", "Call loadConfigFile to read it."),
        ],
    );
    assert_eq!(ids(&index, "where is caching configured"), [0]);
    assert_eq!(ids(&index, "UV_CACHE_DIR"), [0]);
    assert_eq!(ids(&index, "config file"), [2]);
}

#[test]
fn query_syntax_means_nothing() {
    let index = index(1, &[("Cache", "The cache folder."), ("B", "bracket")]);
    for title in [
        "fix: can't [open] (the cache \"a^b",
        "title:cache^100 AND -cache",
        "cache~2 cach* {cache TO z]",
        "\0\u{feff}cache",
    ] {
        assert_eq!(ids(&index, title)[0], 0, "{title}");
    }
    assert!(ids(&index, "").is_empty() && ids(&index, "the of ?!").is_empty());
    assert!(!ids(&index, &"cache word ".repeat(50_000)).is_empty());
}

#[test]
fn noise_in_a_form_does_not_drown_the_question() {
    let index = index(
        1,
        &[
            ("Timeouts", "Set the deadline of a request."),
            ("Linux", "Version 5 of the linux kernel on x86_64 machines; version of the platform. Debug."),
        ],
    );
    let text = "### Question\nWhich deadline applies?\n### Platform\nlinux kernel version x86_64\n### Version\nversion platform\n```\nDEBUG platform linux kernel\n```\n";
    let found = index.find(&question("deadline", text), None, 10, &|_| true).unwrap();
    assert_eq!(found[0].id, 0);
}

#[test]
fn files_are_replaced_and_removed() {
    let mut index = index(1, &[("A", "apple"), ("B", "banana")]);
    assert_eq!(index.len(), 2);
    add(&mut index, 1, 0, "A", "cherry", Vec::new());
    index.commit().unwrap();
    assert_eq!((index.len(), ids(&index, "apple"), ids(&index, "cherry")), (2, vec![], vec![0]));
    index.remove_file(1, &path("docs/1.md"));
    index.commit().unwrap();
    assert_eq!((index.len(), ids(&index, "banana")), (1, vec![]));
    index.remove_project(1);
    assert!(ids(&index, "cherry").is_empty(), "a project leaves at once");
    index.commit().unwrap();
    assert!(index.is_empty() && ids(&index, "cherry").is_empty());
}

#[test]
fn projects_that_are_not_allowed_are_not_found() {
    let mut index = Index::new().unwrap();
    let vector = Vector::quantise(&vec![1.0; DIM]);
    for project in 1..=3 {
        add(&mut index, project, project, "Apple", "apple", vec![vector.clone()]);
    }
    index.commit().unwrap();
    let found = index.find(&question("apple", ""), Some(&vector), 10, &|project| project == 2).unwrap();
    assert_eq!(found.iter().map(|found| found.project).collect::<Vec<_>>(), [2]);
}

#[test]
fn words_and_vectors_are_fused() {
    let axis = |at: usize| {
        let mut values = vec![0.01; DIM];
        values[at] = 1.0;
        Vector::quantise(&values)
    };
    let mut index = Index::new().unwrap();
    add(&mut index, 1, 0, "A", "apple", vec![axis(0)]);
    add(&mut index, 1, 1, "B", "apple and pear", vec![axis(2), axis(1)]);
    let mut between = vec![0.01; DIM];
    (between[1], between[3]) = (0.5, 1.0);
    add(&mut index, 1, 2, "C", "something else", vec![Vector::quantise(&between)]);
    index.commit().unwrap();
    let found = index.find(&question("apple", ""), Some(&axis(1)), 10, &|_| true).unwrap();
    assert_eq!(found[0].id, 1);
    assert_eq!((found[0].dense_rank, found[0].bm25_rank), (Some(0), Some(1)));
    assert!(found[0].cosine > 0.99);
    let last = found.iter().find(|found| found.id == 2).unwrap();
    assert_eq!((last.bm25, last.bm25_rank), (0.0, None));
    // A file that is removed takes its vectors along at once.
    index.remove_file(1, &path("docs/1.md"));
    assert!(
        index
            .find(&question("zzz", ""), Some(&axis(1)), 10, &|_| true)
            .unwrap()
            .iter()
            .all(|found| found.id != 1)
    );
}

#[test]
fn fingerprints_tell_questions_apart() {
    let print = |title: &str| Fingerprint::of(&question(title, ""));
    let cache = print("Where is the cache kept on Windows?");
    let same = print("windows: location of the caches");
    let other = print("How do I add a private registry?");
    assert!(similarity(&cache, &same) > 0.5 && similarity(&cache, &other) < 0.2);
    assert!((similarity(&cache, &cache) - 1.0).abs() < 1e-5);
    assert_eq!(similarity(&cache, &print("")), 0.0);
    let text = Fingerprint::of_text("The cache is kept in AppData on Windows.");
    assert!(similarity(&cache, &text) > similarity(&other, &text));
}

proptest! {
    #[test]
    fn fingerprints_survive_storage(title in "\\PC{0,80}") {
        let print = Fingerprint::of(&question(&title, ""));
        prop_assert_eq!(Fingerprint::from_bytes(&print.to_bytes()), Some(print));
    }

    #[test]
    fn vectors_survive_quantisation(a in prop::collection::vec(-1.0_f32..1.0, DIM), b in prop::collection::vec(-1.0_f32..1.0, DIM)) {
        let exact = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let cosine = exact(&a, &b) / (exact(&a, &a) * exact(&b, &b)).sqrt().max(1e-9);
        let (a, b) = (Vector::quantise(&a), Vector::quantise(&b));
        prop_assert!((a.cosine(&b) - cosine).abs() < 0.02);
        prop_assert_eq!(Vector::from_bytes(&a.to_bytes()), Some(a));
    }

    #[test]
    fn any_text_is_taken_apart(text in "\\PC{0,300}|[A-Za-z_.:$`?#|\n -]{0,300}") {
        words::terms(&text);
        Fingerprint::of(&question(&text, &text));
    }
}
