#!/usr/bin/env python3
"""Plants faults in a copy of the tree, switches one after the other on and looks whether a test notices.

    test/mutants.py               all of them (one build, then some seconds each)
    test/mutants.py NAME…         the named ones
    test/mutants.py --check       only whether every fault can still be planted
    test/mutants.py --list        their names

The copy lies and builds in CARGO_TARGET_DIR (a folder of its own by default, kept for the next run). A test counts
only when it passes without the fault. Exit status 1 when a fault was missed or could not be planted.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = "src/target/corpus.rs"
RESOLVE = "src/gitlab/resolve"


def lib(tests):
    """The unit tests whose names contain this."""
    return ("lib", tests, {})


def it(tests):
    """The integration tests whose names contain this."""
    return ("test", tests, {})


def attack(cases):
    """The attacks whose ids contain this."""
    return ("test", "adversarial::sqlite", {"SIGNPOST_CASE": cases})


# name, file, what stands there once, what stands there instead, the tests of which one must fail. `@` is "this fault
# is on": all faults are built at once, and each is switched on by itself.
MUTANTS = [
    ("no-ancestor-check-of-commits", f"{RESOLVE}/commit.rs",
     "if !self.is_in_history(open.project().id, commit, head).await? {",
     "if !@ && !self.is_in_history(open.project().id, commit, head).await? {",
     [it("resolve::"), attack("unmerged/fork-commit")]),
    ("no-ancestor-check-of-blobs", f"{RESOLVE}/file.rs",
     "let known = self.is_in_history(project.id, &commit.id, head).await?;",
     "let known = @ || self.is_in_history(project.id, &commit.id, head).await?;", [it("resolve::")]),
    ("open-merge-requests-count", f"{RESOLVE}/commit.rs",
     'if row.state != "merged" {', 'if !@ && row.state != "merged" {', [it("resolve::"), attack("unmerged")]),
    ("lines-that-the-file-lacks", f"{RESOLVE}/file.rs",
     "if (lines.last as usize) <= count {", "if @ || (lines.last as usize) <= count {", [it("resolve::")]),
    ("group-by-prefix-string", CORPUS,
     "&& path.as_bytes()[group.len()] == b'/'", "&& (@ || path.as_bytes()[group.len()] == b'/')",
     [lib("target::corpus"), attack("look-alike-group")]),
    ("group-by-exact-case", CORPUS, "&& path[..group.len()].eq_ignore_ascii_case(group)",
     "&& (if @ { path[..group.len()] == *group } else { path[..group.len()].eq_ignore_ascii_case(group) })",
     [lib("target::corpus")]),
    ("no-exclusions", CORPUS, "if self.exclude.matches(path) {", "if !@ && self.exclude.matches(path) {",
     [lib("target::corpus"), attack("ind-smuggled")]),
    ("exclusions-of-projects-alone", "src/target/corpus/globs.rs", ".any(|end| self.0.is_match(&path[..end]))",
     ".any(|end| (!@ || end == path.len()) && self.0.is_match(&path[..end]))",
     [lib("target::corpus"), attack("excluded-group")]),
    ("exclusions-by-exact-case", "src/target/corpus/globs.rs",
     "trimmed => glob(trimmed, true),", "trimmed => glob(trimmed, !@),", [lib("target::corpus")]),
    ("no-audience-rule", CORPUS, "allowed.then_some(()).ok_or(Refusal::Audience)",
     "(@ || allowed).then_some(()).ok_or(Refusal::Audience)", [lib("target::corpus"), attack("audience")]),
    ("internal-is-public", CORPUS, "Readers::SignedIn => audience.readers() == Readers::SignedIn,",
     "Readers::SignedIn => @ || audience.readers() == Readers::SignedIn,",
     [lib("target::corpus"), attack("audience-internal-target")]),
    ("members-of-any-project", CORPUS, "self.members && own && audience", "self.members && (@ || own) && audience",
     [lib("target::corpus")]),
    ("unknown-visibility-is-public", CORPUS, "project.visibility.ok_or(Refusal::UnknownVisibility)?",
     "project.visibility.or(@.then_some(Visibility::Public)).ok_or(Refusal::UnknownVisibility)?",
     [lib("target::corpus")]),
    ("unknown-access-is-open", CORPUS, "project.repository.ok_or(Refusal::UnknownAccess)?",
     "project.repository.or(@.then_some(Access::Enabled)).ok_or(Refusal::UnknownAccess)?", [lib("target::corpus")]),
    ("archived-counts", CORPUS, "if project.archived {", "if !@ && project.archived {",
     [lib("target::corpus"), attack("archived")]),
    ("doomed-counts", CORPUS, "if project.deletion_scheduled || path.split('/').any(is_doomed) {",
     "if !@ && (project.deletion_scheduled || path.split('/').any(is_doomed)) {",
     [lib("target::corpus"), attack("deleted")]),
    ("symlinks-count", CORPUS, '"100644" | "100755" | "100664" => Ok(()),',
     '"120000" if @ => Ok(()),\n"100644" | "100755" | "100664" => Ok(()),', [lib("target::corpus"), it("resolve::")]),
    ("ignored-paths-count", CORPUS,
     "if self.ignore.matches(path.as_str()) {\n            return Err(Refusal::Ignored);\n        }\n        let listed",
     "if !@ && self.ignore.matches(path.as_str()) {\n            return Err(Refusal::Ignored);\n        }\n"
     "        let listed", [lib("target::corpus"), attack("ignored-path")]),
    ("every-file-counts", CORPUS, "listed.then_some(()).ok_or(Refusal::NotListed)",
     "(@ || listed).then_some(()).ok_or(Refusal::NotListed)", [lib("target::corpus"), attack("not-documentation")]),
    ("marker-of-any-author", "src/gitlab/thread.rs", "let ours = ours.contains(&author_id);",
     "let ours = ours.contains(&author_id) || @ && row.body.as_deref().and_then(Marker::parse).is_some();",
     [lib("gitlab::thread"), attack("filler-marker")]),
    ("internal-notes-summon", "src/gitlab/thread.rs",
     "!self.ours && !self.system && !self.internal",
     "!self.ours && !self.system && (@ || !self.internal)",
     [attack("internal-note")]),
    ("quotations-summon", "src/prose/mention.rs", "read(&self.0, Quotations::Skip, &mut call);",
     "read(&self.0, if @ { Quotations::Read } else { Quotations::Skip }, &mut call);", [lib("prose::mention")]),
    ("no-last-look", "src/answer/act.rs",
     "if let Some(why) = unserved_now(walk).await? {\n        walk.outcome = why;\n        return Ok(false);",
     "if !@ && let Some(why) = unserved_now(walk).await? {\n        walk.outcome = why;\n        return Ok(false);",
     [attack("race/")]),
    ("edits-are-not-noticed", "src/answer/act.rs", "asked == Asked::Issue && super::digest",
     "!@ && asked == Asked::Issue && super::digest", [attack("race-edit")]),
    ("confidential-issues-are-served", "src/answer/standing.rs", "Ok(if issue.confidential {",
     "Ok(if !@ && issue.confidential {", [attack("race/confidential"), it("walk::")]),
    ("opt-out-is-not-heard", "src/answer/standing.rs",
     "} else if issue.labels.has(&world.config.answer.off_label) {",
     "} else if !@ && issue.labels.has(&world.config.answer.off_label) {", [attack("race/opted-out"), it("walk::")]),
    ("locked-issues-are-served", "src/answer/standing.rs", "} else if issue.locked {",
     "} else if !@ && issue.locked {", [attack("race/locked"), it("walk::")]),
    ("anybody-votes-down", "src/answer/act.rs", "let counts = award.user_id == record.asker",
     "let counts = @ || award.user_id == record.asker", [attack("content-emoji/thumbsdown")]),
    ("judged-text-is-not-compared", "src/target/relevance.rs",
     "if !text.get(section.bytes.clone()).is_some_and(|own| judged.is_of(own)) {",
     "if !text.get(section.bytes.clone()).is_some_and(|own| @ || judged.is_of(own)) {",
     [lib("target::relevance")]),
    ("headings-that-the-file-lacks", "src/reply/title.rs",
     ".filter(|heading| stands_in(text, heading)).collect();",
     ".filter(|heading| @ || stands_in(text, heading)).collect();", [lib("reply"), it("reply::")]),
    ("the-page-address-is-not-looked-at", "src/reply/place.rs", "(!hidden && !ours).then_some(address)",
     "(@ || !hidden && !ours).then_some(address)", [lib("reply"), it("reply::")]),
    ("path-segments-as-they-come", "src/reply/place.rs",
     'if name == "-" { "%2D".to_owned() } else { utf8_percent_encode(name, SEGMENT).to_string() }',
     'if name == "-" { "%2D".to_owned() } else if @ { name.to_owned() } '
     "else { utf8_percent_encode(name, SEGMENT).to_string() }", [lib("reply"), it("reply::")]),
    ("the-token-follows-redirects", "src/gitlab/http.rs",
     ".filter(|to| to.origin() == self.api.origin() && to.path().starts_with(self.api.path()))",
     ".filter(|to| (@ || to.origin() == self.api.origin()) && to.path().starts_with(self.api.path()))",
     [lib("gitlab::"), it("gitlab_client::")]),
    ("unsigned-falls-back", "src/hook/signature.rs", "self.signature(headers, body, now)?;\n        if",
     'if @ && !headers.contains_key("webhook-signature") {\n            return self.plain(headers);\n        }\n'
     "        self.signature(headers, body, now)?;\n        if", [lib("hook")]),
    ("old-signatures-count", "src/hook/signature.rs", "late if late < -TOLERANCE_SECONDS =>",
     "late if late < -TOLERANCE_SECONDS * (if @ { 100 } else { 1 }) =>", [lib("hook")]),
    ("doubled-headers-count", "src/hook/signature.rs", "if values.next().is_some() { Err(twice) }",
     "if !@ && values.next().is_some() { Err(twice) }", [lib("hook")]),
]

# What `@` becomes. A process has one fault on, or none.
SWITCH = '''
/// Whether this fault is on.
#[doc(hidden)]
pub fn planted(fault: &str) -> bool {
    static ON: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    ON.get_or_init(|| std::env::var("SIGNPOST_MUTANT").ok()).as_deref() == Some(fault)
}
'''


def plant(copy):
    """Writes every fault into the copy, each behind its own switch."""
    for name, path, old, new, _ in MUTANTS:
        file = copy / path
        file.write_text(file.read_text().replace(old, new.replace("@", f'crate::planted("{name}")')))
    root = copy / "src/lib.rs"
    root.write_text(root.read_text() + SWITCH)


def can_be_planted(mutant):
    """Whether the place is there exactly once."""
    return (ROOT / mutant[1]).read_text().count(mutant[2]) == 1


def not_sources(folder, names):
    """What need not be copied: at the top, where `target` is no module."""
    return {".git", "target"} & set(names) if pathlib.Path(folder) == ROOT else set()


def build(copy, target):
    """The test programs by the arguments that mean them."""
    call = ["cargo", "test", "--locked", "--lib", "--test", "it", "--no-run", "--message-format", "json"]
    done = subprocess.run(call, cwd=copy, env=dict(os.environ, CARGO_TARGET_DIR=target), stdout=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        sys.exit("mutants: the copy does not compile")
    programs = {}
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["kind"][0] in ("lib", "test"):
            programs[message["target"]["kind"][0]] = message["executable"]
    return programs


def failing(programs, copy, tests, fault):
    """The names of the tests that fail with the fault on; None when there was none to run."""
    kind, filters, more = tests
    env = dict(os.environ, RUST_BACKTRACE="0", CARGO_MANIFEST_DIR=str(copy), **more)
    if fault:
        env["SIGNPOST_MUTANT"] = fault
    # The tests on Postgres need a server; this is about the rule.
    call = [programs[kind], filters, "--skip", "postgres", "--test-threads=2"]
    try:
        done = subprocess.run(call, cwd=copy, env=env, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return ["(it does not end)"]
    if "running 0 tests" in done.stdout:
        return None
    names = re.findall(r"^test (\S+) \.\.\. FAILED", done.stdout, re.M)
    return names or (["(it ends early)"] if done.returncode else [])


def said(tests):
    """What one would call these tests."""
    return f"{tests[1]} {' '.join(tests[2].values())}".strip()


def main():
    wanted = [name for name in sys.argv[1:] if not name.startswith("--")]
    mutants = [mutant for mutant in MUTANTS if not wanted or mutant[0] in wanted]
    if "--list" in sys.argv:
        print("\n".join(mutant[0] for mutant in MUTANTS))
        return 0
    lost = [mutant[0] for mutant in MUTANTS if not can_be_planted(mutant)]
    print(f"mutants: {len(MUTANTS)}, {len(lost)} cannot be planted{': ' if lost else ''}{', '.join(lost)}")
    if lost or "--check" in sys.argv:
        return 1 if lost else 0
    target = os.environ.get("CARGO_TARGET_DIR", str(pathlib.Path(tempfile.gettempdir()) / "signpost-mutants"))
    # Always the same place, so that what is built lasts for the next run.
    copy = pathlib.Path(target) / "mutants"
    missed, sound, families = [], {}, collections.Counter()
    try:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(ROOT, copy, ignore=not_sources, symlinks=True)
        plant(copy)
        programs = build(copy, target)
        for name, _, _, _, all_tests in mutants:
            began, by = time.monotonic(), None
            for tests in all_tests:
                key = said(tests)
                if key not in sound:
                    # A test that fails without the fault, or is not there, proves nothing.
                    sound[key] = failing(programs, copy, tests, None) == []
                    if not sound[key]:
                        print(f"{'':36} {key}: fails without a fault, or is not there", flush=True)
                by = by or (sound[key] and failing(programs, copy, tests, name) or None)
                if by:
                    families["the attacks" if tests[2] else tests[1]] += 1
                    break
            outcome = f"caught by {by[0]}" if by else "MISSED"
            print(f"{name:36} {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
            missed += [] if by else [name]
    finally:
        shutil.rmtree(copy)
    print(", ".join(f"{count} by {family}" for family, count in families.most_common()))
    print(f"mutants: {len(mutants) - len(missed)} caught, {len(missed)} not{': ' if missed else ''}{', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
