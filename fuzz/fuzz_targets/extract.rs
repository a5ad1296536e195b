//! Whatever the text, extraction ends without a panic and gives a bounded list without duplicates.
//! `cargo +nightly fuzz run extract`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use signpost::prose::Prose;
use signpost::prose::references::{ExtractContext, REFERENCES_MAX};
use signpost::reference::ProjectPath;

static CONTEXT: LazyLock<ExtractContext> = LazyLock::new(|| {
    let project = ProjectPath::parse("harbour/berth").expect("a project path");
    ExtractContext::new("https://code.harbour.test", ["https://handbook.harbour.test/"], project)
        .expect("the sites are URLs")
});

fuzz_target!(|text: String| {
    let prose = Prose::from(text);
    let found = prose.references(&CONTEXT);
    assert!(found.len() <= REFERENCES_MAX);
    for (at, reference) in found.iter().enumerate() {
        assert!(!found[..at].contains(reference));
    }
    prose.mentions("way-post");
    prose.thread_only_signposts(&CONTEXT);
});
