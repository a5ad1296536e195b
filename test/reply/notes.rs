//! What each kind of note looks like. `docs/notes.md` shows the same notes.

use signpost::reference::RepoPath;
use signpost::reply::layout::{Place, answer};
use signpost::reply::verify::{Finding, Origin, check, object_id};
use signpost::reply::{Asked, Language, Marker, Reply, Says, Wording};

const WEB: &str = "https://gitlab.example.com";
const COMMIT: &str = "3f9c2a71d04be86a5517c09e2b6f84d1a7e35c20";

const DEPLOY: &str = "# Deploy\n\n## Rotate the signing token\n\nSeveral tokens may be valid at once, so \
rotation needs **no downtime**. Ask @ops for access first, and see [the hook](../hook.md#tokens).\n\n\
1. Add the new token *beside* the old one:\n\n   ```sh\n   export SIGNPOST_SIGNING_TOKEN=\"$OLD $NEW\"\n   ```\n\n\
2. Restart, then change the token in GitLab.\n3. Remove the old one.\n\n\
| Answer | Meaning |\n|---|---|\n| `401` | neither token fits |\n\n## Roll back\n\nSet the old image.\n";

const CLIENT: &str = "impl Client {\n    /// Waits at most this long for an answer.\n    ///\n    /// The default is 10 seconds.\n    \
pub fn timeout(mut self, timeout: Duration) -> Client {\n        self.timeout = timeout;\n        self\n    }\n}\n";

/// The note on `bytes` of a file, and the file's further sections as further places.
fn note(
    path: &str,
    text: &str,
    quote: &str,
    headings: &[&str],
    language: Language,
    further: Option<(&str, &str)>,
) -> String {
    let path = RepoPath::parse(path).unwrap();
    let blob = object_id(text.as_bytes(), 40);
    let headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let at = |quote: &str| text.find(quote).map(|start| start..start + quote.len()).unwrap();
    let page =
        path.as_str().ends_with(".md").then_some("https://docs.example.com/deploy/#rotate-the-signing-token");
    let best = Place {
        project: 12,
        project_path: "acme/signpost",
        commit: COMMIT,
        path: &path,
        blob: &blob,
        text,
        bytes: at(quote),
        headings: &headings,
        page,
    };
    let also = further.map(|(heading, quote)| (vec!["Deploy".to_owned(), heading.to_owned()], at(quote)));
    let other = RepoPath::parse("docs/faq.md").unwrap();
    let mut places = Vec::new();
    if let Some((headings, bytes)) = &also {
        places.push(Place { headings, bytes: bytes.clone(), page: None, ..best.clone() });
        places.push(Place {
            path: &other,
            text: "# FAQ\n\nYes.\n",
            bytes: 7..11,
            page: None,
            ..best.clone()
        });
    }
    answer(&best, &places, &Wording::new(language, WEB), &Marker::of(Asked::Issue))
}

fn from_documentation(language: Language) -> String {
    let end = DEPLOY.find("\n## Roll back").unwrap();
    let start = DEPLOY.find("## Rotate").unwrap();
    let headings = ["Deploy", "Rotate the signing token"];
    note(
        "docs/deploy.md",
        DEPLOY,
        &DEPLOY[start..end],
        &headings,
        language,
        Some(("Roll back", "Set the old image.")),
    )
}

fn from_code() -> String {
    let quote = &CLIENT[CLIENT.find("    ///").unwrap()..CLIENT.rfind("}\n}").unwrap() + 1];
    note("src/client.rs", CLIENT, quote, &["timeout"], Language::English, None)
}

#[test]
fn an_answer_from_documentation() {
    insta::assert_snapshot!(from_documentation(Language::English), @r#"
    **[Deploy › Rotate the signing token](<https://gitlab.example.com/acme/signpost/-/blob/3f9c2a71d04be86a5517c09e2b6f84d1a7e35c20/docs/deploy.md?plain=1#L5-18>)**

    > Several tokens may be valid at once, so rotation needs **no downtime**. Ask \@ops for access first, and see the hook.
    >
    > 1. Add the new token *beside* the old one:
    >
    >    ```sh
    >    export SIGNPOST_SIGNING_TOKEN="$OLD $NEW"
    >    ```
    >
    > 2. Restart, then change the token in GitLab.
    > 3. Remove the old one.
    >
    > | Answer | Meaning |
    > |---|---|
    > | `401` | neither token fits |

    `docs/deploy.md` · lines 5–18 · commit `3f9c2a71` · [Read it on the documentation site](<https://docs.example.com/deploy/#rotate-the-signing-token>)

    See also: [Deploy › Roll back](<https://gitlab.example.com/acme/signpost/-/blob/3f9c2a71d04be86a5517c09e2b6f84d1a7e35c20/docs/deploy.md?plain=1#L22>) · [docs/faq.md, line 3](<https://gitlab.example.com/acme/signpost/-/blob/3f9c2a71d04be86a5517c09e2b6f84d1a7e35c20/docs/faq.md?plain=1#L3>)

    *Quoted word for word from this file. Not what was asked? A 👎 on this comment takes it back.*

    <!-- signpost:1 en answer issue project=12 commit=3f9c2a71d04be86a5517c09e2b6f84d1a7e35c20 path=docs/deploy.md blob=2d0fcd9a3b2cb1d4b8a0ec9181582e9402b8fbd9 bytes=39-414 lines=5-18 -->
    "#);
}

#[test]
fn an_answer_from_code() {
    insta::assert_snapshot!(from_code(), @r#"
    **[timeout](<https://gitlab.example.com/acme/signpost/-/blob/3f9c2a71d04be86a5517c09e2b6f84d1a7e35c20/src/client.rs#L2-8>)**

    ```rs
    /// Waits at most this long for an answer.
    ///
    /// The default is 10 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Client {
        self.timeout = timeout;
        self
    }
    ```

    `src/client.rs` · lines 2–8 · commit `3f9c2a71`

    *Quoted word for word from this file. Not what was asked? A 👎 on this comment takes it back.*

    <!-- signpost:1 en answer issue project=12 commit=3f9c2a71d04be86a5517c09e2b6f84d1a7e35c20 path=src/client.rs blob=1a59080feffd554672700e0dfe8f2001ca524384 bytes=14-214 lines=2-8 -->
    "#);
}

#[test]
fn a_long_passage_is_cut_at_a_sentence() {
    let text = format!("# Limits\n\n{}", "A sentence of the manual that says something. ".repeat(60));
    let note = note("docs/limits.md", &text, &text, &["Limits"], Language::English, None);
    assert!(note.contains("something.\n\n*[…] The passage goes on in the file.*\n\n"), "{note}");
    assert!(check(&note, |_| Some(text.clone().into())).is_ok());
}

#[test]
fn notes_of_one_sentence() {
    let wording = Wording::new(Language::English, WEB);
    insta::assert_snapshot!(Reply::nothing_found(&wording, &Marker::of(Asked::Note(4711))).markdown(), @r#"
    The documentation has no passage that answers this. It is noted as a gap.

    <!-- signpost:1 en nothing note=4711 -->
    "#);
    insta::assert_snapshot!(Reply::withdrawn(&wording, &Marker::of(Asked::Issue)).markdown(), @r#"
    The passage quoted here was marked as wrong and has been withdrawn. The question is noted as a gap in the documentation.

    <!-- signpost:1 en withdrawn issue -->
    "#);
    insta::assert_snapshot!(Reply::outdated(&wording, &Marker::of(Asked::Issue)).markdown(), @r#"
    The passage quoted here no longer answers the question and has been withdrawn. The question is noted as a gap in the documentation.

    <!-- signpost:1 en outdated issue -->
    "#);
}

#[test]
fn every_sentence_in_every_language_is_proved_and_inert() {
    for language in Language::ALL {
        let wording = Wording::new(language, WEB);
        for reply in [Reply::nothing_found, Reply::withdrawn, Reply::outdated] {
            let reply = reply(&wording, &Marker::of(Asked::Note(1)));
            let proof = check(reply.markdown(), |_| None).unwrap();
            assert_ne!(proof.marker.says(), Says::Answer);
            assert_eq!(super::acts::of(reply.markdown(), |_| false), Vec::<String>::new());
        }
        let note = from_documentation(language);
        check(&note, |_| Some(DEPLOY.into())).unwrap();
        assert_eq!(
            super::acts::of(&note, |url| url.starts_with(WEB)
                || url.starts_with("https://docs.example.com/")),
            Vec::<String>::new()
        );
    }
}

#[test]
fn the_proof_names_the_byte() {
    let note = from_documentation(Language::English);
    let proof = check(&note, |_| Some(DEPLOY.into())).unwrap();
    let quoted = proof.parts.iter().find_map(|part| match &part.origin {
        Origin::Quote(kept) => Some(kept.iter().map(|kept| &DEPLOY[kept.clone()]).collect::<String>()),
        _ => None,
    });
    assert!(quoted.unwrap().starts_with("Several tokens may be valid at once"));

    let forged = note.replacen("no downtime", "a downtime", 1);
    let Err(Finding::Foreign { at, line, .. }) = check(&forged, |_| Some(DEPLOY.into())) else { panic!() };
    assert_eq!((at, line), (note.find("no downtime").unwrap(), 3));
    let Err(Finding::OtherBlob { .. }) = check(&note, |_| Some(b"another file".to_vec())) else { panic!() };
    assert!(check(&note, |_| None).is_err_and(|finding| finding.is_unknown()));
    assert_eq!(check("The supported way is this.", |_| None).err(), Some(Finding::NoMarker));
}

#[test]
fn the_manual_shows_these_notes() {
    let manual = include_str!("../../docs/notes.md");
    let wording = Wording::new(Language::English, WEB);
    let mut notes =
        vec![from_documentation(Language::English), from_documentation(Language::German), from_code()];
    notes.push(Reply::nothing_found(&wording, &Marker::of(Asked::Note(4711))).markdown().to_owned());
    notes.push(Reply::withdrawn(&wording, &Marker::of(Asked::Issue)).markdown().to_owned());
    notes.push(Reply::outdated(&wording, &Marker::of(Asked::Issue)).markdown().to_owned());
    for note in notes {
        assert!(manual.contains(&format!("`````markdown\n{note}\n`````\n")), "{note}");
    }
}
