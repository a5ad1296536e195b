//! The crate as its users see it: agreement with the training framework, no panic on anything, the same every time.

use std::sync::OnceLock;

use proptest::prelude::*;
use signpost_reader::{Evidence, Gate, Reader, any_of_best, best_lines, essence, parts, probability};

#[derive(serde::Deserialize)]
struct Golden {
    tokens: Vec<Tokens>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Tokens {
    text: String,
    ids: Vec<u32>,
}

#[derive(serde::Deserialize)]
struct Case {
    title: String,
    description: String,
    passages: Vec<(String, String)>,
    question_ids: Vec<u32>,
    passage_ids: Vec<Vec<u32>>,
    cover: Vec<f32>,
    vector: Vec<f32>,
}

/// Written by `training/golden.py`.
fn golden() -> Golden {
    serde_json::from_str(include_str!("golden.json")).unwrap()
}

fn reader() -> &'static Reader {
    static READER: OnceLock<Reader> = OnceLock::new();
    READER.get_or_init(Reader::load)
}

impl Case {
    fn passages(&self) -> Vec<(&str, &str)> {
        self.passages.iter().map(|(h, t)| (h.as_str(), t.as_str())).collect()
    }
}

#[test]
fn tokens_are_those_of_the_reference_tokenizer() {
    let pieces = parts::WordPiece::load();
    for Tokens { text, ids } in golden().tokens {
        assert_eq!(pieces.encode(&text, 512), ids, "{text:?}");
    }
}

#[test]
fn what_the_model_is_given_has_not_changed_since_it_was_trained() {
    let pieces = parts::WordPiece::load();
    for case in golden().cases {
        let essence = essence(&case.title, &case.description);
        assert_eq!(pieces.encode(&essence, parts::QUESTION), case.question_ids);
        let terms = parts::terms(&essence);
        for ((heading, text), ids) in case.passages.iter().zip(&case.passage_ids) {
            assert_eq!(&parts::reading(&pieces, heading, text, &terms, parts::PASSAGE), ids);
        }
    }
}

/// Tolerance: 1e-3 on scores that range over some ten units, 1e-4 on coordinates of a vector of length one.
#[test]
fn figures_agree_with_pytorch() {
    for case in golden().cases {
        let scores = reader().cover(&case.title, &case.description, &case.passages());
        assert_eq!(scores.len(), case.cover.len());
        for (ours, theirs) in scores.iter().zip(&case.cover) {
            assert!((ours - theirs).abs() < 1e-3, "{ours} {theirs}");
        }
        let vector = reader().embed_question(&essence(&case.title, &case.description));
        assert_eq!(vector.len(), Reader::DIM);
        for (ours, theirs) in vector.iter().zip(&case.vector) {
            assert!((ours - theirs).abs() < 1e-4, "{ours} {theirs}");
        }
        let length: f32 = vector.iter().map(|v| v * v).sum();
        assert!((length - 1.0).abs() < 1e-4);
    }
}

#[test]
fn the_same_input_gives_the_same_bits_whatever_stands_beside_it() {
    let golden = golden();
    let case = &golden.cases[0];
    let all = reader().cover(&case.title, &case.description, &case.passages());
    assert_eq!(all, reader().cover(&case.title, &case.description, &case.passages()));
    for (passage, score) in case.passages().into_iter().zip(&all) {
        assert_eq!(reader().cover(&case.title, &case.description, &[passage])[0], *score);
    }
    let (heading, text) = case.passages()[0];
    assert_eq!(reader().embed_passage(heading, text), reader().embed_passage(heading, text));
}

#[test]
fn nothing_is_a_question_too() {
    assert_eq!(reader().cover("", "", &[]), Vec::<f32>::new());
    assert!(reader().cover("", "", &[("", "")])[0].is_finite());
    assert_eq!(reader().embed_question("").len(), Reader::DIM);
    assert_eq!(essence("", ""), "");
    assert_eq!(best_lines("", "", "", 100), (0, 0));
    assert_eq!(probability(&[], 0), 0.0);
}

#[test]
fn endless_texts_are_cut() {
    let long = "word `code` https://example.org/ | 1.2.3 |\n".repeat(40_000);
    let line = "x".repeat(1_000_000);
    for text in [&long, &line] {
        assert!(essence(text, text).len() < 4_000_000);
        assert!(reader().cover("title", text, &[("heading", text)])[0].is_finite());
        assert!(reader().embed_passage(text, text).iter().all(|v| v.is_finite()));
        Gate::load().question(text, text, &[], "issue");
        best_lines("title", text, text, 1_200);
    }
}

#[test]
fn the_essence_keeps_the_question_and_drops_the_form() {
    let text = "### Checklist\n- [x] I searched\n\n### Question\nHi all,\n\nHow do I set the cache folder? `tool sync` prints\n\n\
        ```\nDEBUG cache: miss\nerror: cache folder is read-only\n```\n\n### Version\n\n1.2.3\n\n### Platform\nUbuntu 22.04\n\nThanks!";
    let essence = essence("cache folder", text);
    assert!(essence.contains("How do I set the cache folder?"));
    assert!(essence.contains("error: cache folder is read-only"));
    for noise in ["searched", "DEBUG", "1.2.3", "Ubuntu", "Hi all", "Thanks"] {
        assert!(!essence.contains(noise), "{noise} in {essence}");
    }
}

#[test]
fn the_gate_tells_questions_from_reports_and_requests() {
    let gate = Gate::load();
    let ask = |title, text| gate.question(title, text, &[], "issue");
    let question = ask(
        "How do I change the log folder?",
        "I'd like the logs on another disk. Is there an option for it?",
    );
    let report = ask(
        "Crash when the log folder is missing",
        "Steps to reproduce: delete the folder, start. Expected: an error. Actual: panicked.",
    );
    let request =
        ask("Add an option for the log folder", "It would be nice to set the folder. Happy to send a PR.");
    let chore = ask("chore(deps): update dependency serde to 1.0.220", "");
    assert!(question > 0.7, "{question}");
    for other in [report, request, chore] {
        assert!(other < 0.3, "{other}");
    }
    let text = "The log folder is empty.";
    let bare = gate.question("log folder", text, &[], "issue");
    assert!(gate.question("log folder", text, &["type::question"], "issue") > bare);
    assert!(gate.question("log folder", text, &["type::bug"], "issue") < bare);
    assert!(gate.question("log folder", text, &[], "incident") < bare);
}

#[test]
fn the_best_lines_are_the_paragraph_and_its_code() {
    let passage = "The tool keeps a journal.\n\nTo change the folder of the cache, set `cache-dir`:\n\n```toml\ncache-dir = \"/fast\"\n```\n\n\
        Journals are rotated daily.\nOld ones are packed.";
    assert_eq!(best_lines("move the cache", "Can I put the cache in another folder?", passage, 200), (2, 6));
    assert_eq!(best_lines("rotated journals", "when are old journals packed?", passage, 90), (8, 9));
}

/// Written by `training/calibrate.py`: what the fit says of three measured questions.
#[test]
fn probabilities_are_those_that_were_fitted() {
    #[derive(serde::Deserialize)]
    struct Fitted {
        evidence: Vec<(f32, f32, f32, u32, u32, f32)>,
        p: Vec<f32>,
        any: f32,
    }
    let fitted: Vec<Fitted> = serde_json::from_str(include_str!("calibration.json")).unwrap();
    for case in fitted {
        let all: Vec<Evidence> = case
            .evidence
            .into_iter()
            .map(|(reader, cosine, bm25, bm25_rank, dense_rank, term_coverage)| Evidence {
                reader,
                cosine,
                bm25,
                bm25_rank,
                dense_rank,
                term_coverage,
                ..Evidence::default()
            })
            .collect();
        for (index, p) in case.p.iter().enumerate() {
            assert!((probability(&all, index) - p).abs() < 1e-3, "{index}");
        }
        assert!((any_of_best(&all) - case.any).abs() < 1e-3);
        let referenced: Vec<Evidence> =
            all.iter().map(|e| Evidence { referenced: true, votes: 2, ..*e }).collect();
        assert!(probability(&referenced, 0) > probability(&all, 0));
    }
}

fn evidence() -> impl Strategy<Value = Evidence> {
    (any::<[f32; 4]>(), any::<[u32; 3]>(), any::<bool>()).prop_map(|(f, n, referenced)| Evidence {
        reader: f[0],
        cosine: f[1],
        bm25: f[2],
        bm25_rank: n[0],
        dense_rank: n[1],
        term_coverage: f[3],
        referenced,
        votes: n[2],
    })
}

proptest! {
    #[test]
    fn a_probability_is_one_whatever_comes_in(all in proptest::collection::vec(evidence(), 0..6), index in 0usize..8) {
        let p = probability(&all, index);
        prop_assert!((0.0..=1.0).contains(&p));
        prop_assert!((0.0..=1.0).contains(&any_of_best(&all)));
    }

    #[test]
    fn no_text_makes_text_functions_panic(title in "\\PC{0,40}", text in "(?s).{0,400}", most in 0usize..500) {
        let essence = essence(&title, &text);
        prop_assert!(essence.len() <= title.len().max(1_200) + 16);
        let p = Gate::load().question(&title, &text, &[&title], &title);
        prop_assert!((0.0..=1.0).contains(&p));
        let (from, to) = best_lines(&title, &essence, &text, most);
        prop_assert!(from <= to && to <= text.lines().count());
    }

    #[test]
    fn markdown_soup_does_no_harm(parts in proptest::collection::vec(prop_oneof![
        Just("```\n"), Just("~~~"), Just("<!--"), Just("-->"), Just("<details>"), Just("</details>"), Just("| a | 1.2 |\n"), Just("](x"),
        Just("**"), Just("# "), Just("- [ ] "), Just("how?"), Just("é"), Just("\n"), Just("    "), Just("<a"), Just("at x (y:1)\n"),
    ], 0..60)) {
        let text = parts.concat();
        let essence = essence("t", &text);
        Gate::load().question("t", &text, &[], "issue");
        let (from, to) = best_lines("how", &essence, &text, 50);
        prop_assert!(from <= to && to <= text.lines().count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn no_text_makes_the_model_panic(title in "\\PC{0,30}", text in "(?s).{0,120}", heading in "\\PC{0,20}") {
        let scores = reader().cover(&title, &text, &[(&heading, &text), (&text, &heading)]);
        prop_assert!(scores.len() == 2 && scores.iter().all(|s| s.is_finite()));
        prop_assert!(reader().embed_passage(&heading, &text).iter().all(|v| v.is_finite()));
    }
}
