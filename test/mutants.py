#!/usr/bin/env python3
"""Plants one fault after the other in a copy of the tree and looks whether a test notices.

    test/mutants.py               all of them (a build each: about a minute on two idle cores)
    test/mutants.py NAME…         the named ones
    test/mutants.py --check       only whether every fault can still be planted
    test/mutants.py --list        their names

The copy lies in a temporary folder and builds in CARGO_TARGET_DIR (a folder of its own by default, kept for the next
run). Exit status 1 when a fault was missed or could not be planted.
"""
import os
import pathlib
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
    return (["--lib", tests], {})


def it(tests):
    """The integration tests whose names contain this."""
    return (["--test", "it", tests], {})


def attack(cases):
    """The attacks whose ids contain this."""
    return (["--test", "it", "adversarial::sqlite"], {"SIGNPOST_CASE": cases})


# name, file, what stands there once, what stands there instead, the tests of which one must fail
MUTANTS = [
    ("no-ancestor-check-of-commits", f"{RESOLVE}/commit.rs",
     "if !self.is_in_history(open.project().id, commit, head).await? {", "if false {",
     [it("resolve::"), attack("unmerged/fork-commit")]),
    ("no-ancestor-check-of-blobs", f"{RESOLVE}/file.rs",
     "let known = self.is_in_history(project.id, &commit.id, head).await?;", "let known = true;",
     [it("resolve::")]),
    ("open-merge-requests-count", f"{RESOLVE}/commit.rs",
     'if row.state != "merged" {', "if false {", [it("resolve::"), attack("unmerged")]),
    ("lines-that-the-file-lacks", f"{RESOLVE}/file.rs",
     "if (lines.last as usize) <= count {", "if true {", [it("resolve::")]),
    ("group-by-prefix-string", CORPUS,
     "&& path.as_bytes()[group.len()] == b'/'", "", [lib("target::corpus"), attack("look-alike-group")]),
    ("group-by-exact-case", CORPUS,
     "&& path[..group.len()].eq_ignore_ascii_case(group)", "&& path[..group.len()] == *group", [lib("target::corpus")]),
    ("no-exclusions", CORPUS, "if self.exclude.matches(path) {", "if false {",
     [lib("target::corpus"), attack("ind-smuggled")]),
    ("exclusions-of-projects-alone", "src/target/corpus/globs.rs",
     ".any(|end| self.0.is_match(&path[..end]))", ".any(|end| end == path.len() && self.0.is_match(path))",
     [lib("target::corpus"), attack("excluded-group")]),
    ("exclusions-by-exact-case", "src/target/corpus/globs.rs",
     "trimmed => glob(trimmed, true),", "trimmed => glob(trimmed, false),", [lib("target::corpus")]),
    ("no-audience-rule", CORPUS, "allowed.then_some(()).ok_or(Refusal::Audience)",
     "{ let _ = allowed; Ok(()) }", [lib("target::corpus"), attack("audience")]),
    ("internal-is-public", CORPUS, "Readers::SignedIn => audience.readers() == Readers::SignedIn,",
     "Readers::SignedIn => true,", [lib("target::corpus"), attack("audience-internal-target")]),
    ("members-of-any-project", CORPUS, "self.members && own && audience", "self.members && (own || true) && audience",
     [lib("target::corpus")]),
    ("unknown-visibility-is-public", CORPUS, "project.visibility.ok_or(Refusal::UnknownVisibility)?",
     "project.visibility.unwrap_or(Visibility::Public)", [lib("target::corpus")]),
    ("unknown-access-is-open", CORPUS, "project.repository.ok_or(Refusal::UnknownAccess)?",
     "project.repository.unwrap_or(Access::Enabled)", [lib("target::corpus")]),
    ("archived-counts", CORPUS, "if project.archived {", "if false {", [lib("target::corpus"), attack("archived")]),
    ("doomed-counts", CORPUS, "if project.deletion_scheduled || path.split('/').any(is_doomed) {", "if false {",
     [lib("target::corpus"), attack("deleted")]),
    ("symlinks-count", CORPUS, '"100644" | "100755" | "100664" => Ok(()),',
     '"100644" | "100755" | "100664" | "120000" => Ok(()),', [lib("target::corpus"), it("resolve::")]),
    ("ignored-paths-count", CORPUS,
     "if self.ignore.matches(path.as_str()) {\n            return Err(Refusal::Ignored);\n        }\n        let listed",
     "let listed", [lib("target::corpus"), attack("ignored-path")]),
    ("every-file-counts", CORPUS, "listed.then_some(()).ok_or(Refusal::NotListed)",
     "{ let _ = listed; Ok(()) }", [lib("target::corpus"), attack("not-documentation")]),
    ("marker-of-any-author", "src/gitlab/thread.rs", "let ours = ours.contains(&author_id);",
     "let ours = ours.contains(&author_id) || row.body.as_deref().and_then(Marker::parse).is_some();",
     [lib("gitlab::thread"), attack("filler-marker")]),
    ("internal-notes-summon", "src/answer/mod.rs",
     "for note in self.thread.notes.iter().filter(|n| !n.ours && !n.system && !n.internal) {",
     "for note in self.thread.notes.iter().filter(|n| !n.ours && !n.system) {", [attack("internal-note")]),
    ("quotations-summon", "src/prose/mention.rs", "read(&self.0, Quotations::Skip, &mut call);",
     "read(&self.0, Quotations::Read, &mut call);", [lib("prose::mention")]),
    ("no-last-look", "src/answer/act.rs",
     "walk.thread.issue = issue;\n    if let Some(why) = standing::unserved(world, &walk.thread).await? {\n"
     "        walk.outcome = why;\n        return Ok(false);\n    }\n    if edited",
     "walk.thread.issue = issue;\n    if edited", [attack("race")]),
    ("edits-are-not-noticed", "src/answer/act.rs", "let edited = asking.asked == Asked::Issue",
     "let edited = false && asking.asked == Asked::Issue", [attack("race-edit")]),
    ("confidential-issues-are-served", "src/answer/standing.rs", "Ok(if issue.confidential {", "Ok(if false {",
     [attack("race/confidential"), it("walk::")]),
    ("opt-out-is-not-heard", "src/answer/standing.rs",
     "} else if issue.labels.has(&world.config.answer.off_label) {", "} else if false {",
     [attack("race/opted-out"), it("walk::")]),
    ("locked-issues-are-served", "src/answer/standing.rs", "} else if issue.locked {", "} else if false {",
     [attack("race/locked"), it("walk::")]),
    ("anybody-votes-down", "src/answer/act.rs", "let counts = award.user_id == record.asker",
     "let counts = true || award.user_id == record.asker", [attack("content-emoji/thumbsdown")]),
    ("judged-text-is-not-compared", "src/target/relevance.rs",
     "if !text.get(section.bytes.clone()).is_some_and(|own| judged.is_of(own)) {",
     "if text.get(section.bytes.clone()).is_none() {", [lib("target::relevance"), lib("target")]),
    ("headings-that-the-file-lacks", "src/reply/title.rs",
     ".filter(|heading| stands_in(text, heading)).collect();", ".collect();", [lib("reply"), it("reply::")]),
    ("the-page-address-is-not-looked-at", "src/reply/place.rs", "(!hidden && !ours).then_some(address)",
     "{ let _ = (hidden, ours); Some(address) }", [lib("reply"), it("reply::")]),
    ("path-segments-as-they-come", "src/reply/place.rs",
     'if name == "-" { "%2D".to_owned() } else { utf8_percent_encode(name, SEGMENT).to_string() }',
     'if name == "-" { "%2D".to_owned() } else { let _ = (utf8_percent_encode(name, SEGMENT), SEGMENT); name.to_owned() }',
     [lib("reply"), it("reply::")]),
    ("the-token-follows-redirects", "src/gitlab/http.rs",
     ".filter(|to| to.origin() == self.api.origin() && to.path().starts_with(self.api.path()))",
     ".filter(|to| to.path().starts_with(self.api.path()))", [lib("gitlab::")]),
    ("unsigned-falls-back", "src/hook/signature.rs", "self.signature(headers, body, now)?;\n        if",
     'if !headers.contains_key("webhook-signature") {\n            return self.plain(headers);\n        }\n'
     "        self.signature(headers, body, now)?;\n        if", [lib("hook")]),
    ("old-signatures-count", "src/hook/signature.rs", "late if late < -TOLERANCE_SECONDS =>",
     "late if late < -TOLERANCE_SECONDS * 100 =>", [lib("hook")]),
    ("doubled-headers-count", "src/hook/signature.rs", "if values.next().is_some() { Err(twice) }",
     "if false { Err(twice) }", [lib("hook")]),
]


def fault(source, mutant):
    """The file's text with the fault in it; None when the place is not there exactly once."""
    _, name, old, new, _ = mutant
    text = (source / name).read_text()
    return text.replace(old, new) if text.count(old) == 1 else None


def not_sources(folder, names):
    """What need not be copied: at the top, where `target` is no module."""
    return {".git", "target"} & set(names) if pathlib.Path(folder) == ROOT else set()


def run(copy, target, mutant):
    name, path, _, _, tests = mutant
    whole = copy / path
    sound = whole.read_text()
    whole.write_text(fault(copy, mutant))
    env = dict(os.environ, CARGO_TARGET_DIR=target, RUST_BACKTRACE="0")
    env.pop("SIGNPOST_TEST_POSTGRES", None)
    began = time.monotonic()
    try:
        for arguments, more in tests:
            call = ["cargo", "test", "--quiet", *arguments]
            # The tests on Postgres need a server; this is about the rule.
            if "--test" in arguments:
                call += ["--", "--skip", "postgres"]
            done = subprocess.run(call, cwd=copy, env=dict(env, **more), capture_output=True, text=True)
            output = done.stdout + done.stderr
            if "could not compile" in output:
                return "does not compile\n" + "\n".join(output.splitlines()[-30:]), began
            if done.returncode != 0:
                return f"caught by {' '.join(arguments + list(more.values()))}", began
        return "MISSED", began
    finally:
        whole.write_text(sound)


def main():
    wanted = [name for name in sys.argv[1:] if not name.startswith("--")]
    mutants = [mutant for mutant in MUTANTS if not wanted or mutant[0] in wanted]
    if "--list" in sys.argv:
        print("\n".join(mutant[0] for mutant in MUTANTS))
        return 0
    lost = [mutant[0] for mutant in mutants if fault(ROOT, mutant) is None]
    print(f"mutants: {len(mutants)}, {len(lost)} cannot be planted{': ' if lost else ''}{', '.join(lost)}")
    if lost or "--check" in sys.argv:
        return 1 if lost else 0
    target = os.environ.get("CARGO_TARGET_DIR", str(pathlib.Path(tempfile.gettempdir()) / "signpost-mutants"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="signpost-mutant-"))
    missed = []
    try:
        copy = folder / "tree"
        shutil.copytree(ROOT, copy, ignore=not_sources, symlinks=True)
        for mutant in mutants:
            outcome, began = run(copy, target, mutant)
            print(f"{mutant[0]:36} {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
            missed += [mutant[0]] if not outcome.startswith("caught") else []
    finally:
        shutil.rmtree(folder)
    print(f"mutants: {len(mutants) - len(missed)} caught, {len(missed)} not{': ' if missed else ''}{', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
