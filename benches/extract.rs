//! What extraction costs: as a ratio to the bare GFM parse of ordinary issue text, both measured in this run,
//! and as growth on hostile text. `cargo bench --bench extract`.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use comrak::{Arena, Options, parse_document};
use signpost::prose::Prose;
use signpost::prose::references::ExtractContext;
use signpost::reference::ProjectPath;

/// Rounds of the comparison; the fastest of each side counts, since noise only ever adds.
const ROUNDS: usize = 60;
/// The most that extraction may take, in units of the bare parse.
const ALLOWED: f64 = 1.5;

/// How long a hostile text is repeated to measure it.
const STRETCH: Duration = Duration::from_millis(200);

/// Issues as people write them, few of them long.
const ISSUES: [&str; 5] = [
    "After the upgrade to 4.2 the scheduler no longer picks up jobs from the `nightly` queue. It did with 4.1.\n\n\
     ### Steps\n\n1. Start the service with `--queues nightly,default`\n2. Enqueue a job: `ctl enqueue nightly`\n\
     3. Wait. Nothing happens; the log only says *queue unknown*.\n\nI looked at src/scheduler/queues.rs:118 and \
     think that !2214 changed how names are matched. The documentation at \
     https://handbook.harbour.test/queues/#names still describes the old behaviour. Is there a setting that \
     brings it back, or do we have to rename all our queues?\n",
    "How do I rotate the signing keys without downtime?\n\nWe run three replicas behind a load balancer, and \
     each of them reads the keys at start. The guide says to restart the service after a change, but then \
     requests that were signed with the old key are refused for about a minute. What I would like:\n\n\
     - add a second key\n- let both be accepted for a day\n- drop the first one\n\nIs that possible today? I \
     could not find anything in the [reference](docs/configuration.md#keys), and #418 was closed without an \
     answer.\n\n> You can list several keys separated by spaces.\n\nThat is what somebody wrote in the chat, but \
     it does not work for me: the second one is ignored.\n",
    "```\nthread 'main' panicked at src/http/router.rs:77:13:\ncalled `Option::unwrap()` on a `None` value\n\
     stack backtrace:\n   0: rust_begin_unwind\n   1: core::panicking::panic_fmt\n   2: router::route\n\
     at ./src/http/router.rs:77:13\n```\n\nThis happens when the path ends in `//`. Introduced by 9c0d4e7f, I \
     guess, since a1b2c3d4 is fine.\n\n| version | result |\n|---|---|\n| 4.0 | works |\n| 4.1 | works |\n\
     | 4.2 | panic |\n| main | panic |\n",
    "Please document the limits of the import: how large may a file be, how many rows, which encodings? I tried a \
     file of two gigabytes and it was refused with a message that names no number. A colleague says that the \
     limit is in the ingress and not in the application, another that it can be configured. Both may be right, \
     but the page about imports mentions neither. It would also help to know whether an import that was \
     interrupted can be resumed or has to be started again from the beginning, and what happens to rows that \
     had been read already. Thank you for this great tool, by the way; it saves us many hours every week.\n",
    "**Problem**\n\nThe chart does not set `securityContext`, and our cluster refuses pods without it.\n\n\
     **Proposal**\n\n- [ ] `runAsNonRoot: true` in `helm/values.yaml`\n- [ ] a note in `helm/README.md`\n\
     - [x] ask @mia what OpenShift needs\n\nSee https://code.harbour.test/harbour/charts/-/merge_requests/31 and \
     [how others do it](https://elsewhere.test/blog/pods \"a blog\"). Related: harbour/charts#12, ~security.\n\n\
     <details><summary>The message</summary>\n\n```text\nerror: pods \"berth-0\" is forbidden\n```\n\n</details>\n",
];

fn main() {
    let context = ExtractContext::new(
        "https://code.harbour.test",
        ["https://handbook.harbour.test/"],
        ProjectPath::parse("harbour/berth").expect("a project path"),
    )
    .expect("the sites are URLs");
    let ratio = compare(&context);
    growth(&context);
    if ratio > ALLOWED {
        eprintln!("extraction costs {ratio:.2} bare parses, {ALLOWED} are allowed");
        std::process::exit(1);
    }
}

/// Prints and returns what extraction costs in units of the bare parse.
fn compare(context: &ExtractContext) -> f64 {
    let texts: Vec<String> =
        (0..200).map(|n| ISSUES[n % ISSUES.len()].replace("4.2", &format!("4.{n}"))).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let proses: Vec<Prose> = texts.iter().cloned().map(Prose::from).collect();
    let options = gfm();
    let (mut bare, mut ours) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        bare = bare.min(time(|| {
            for text in &texts {
                black_box(parse_document(&Arena::new(), text, &options));
            }
        }));
        ours = ours.min(time(|| {
            for prose in &proses {
                black_box(prose.references(context));
            }
        }));
    }
    let speed = |took: Duration| bytes as f64 / took.as_secs_f64() / 1e6;
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("ordinary text, {} issues, {bytes} bytes", texts.len());
    println!("  bare GFM parse  {:>7.1} MB/s", speed(bare));
    println!("  extraction      {:>7.1} MB/s", speed(ours));
    println!("  ratio           {ratio:>7.2}");
    ratio
}

/// The options of a GFM renderer that does nothing of ours.
fn gfm() -> Options<'static> {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options
}

/// A hostile text of a size.
type Hostile = fn(usize) -> String;

/// Prints how the time grows as hostile texts double, beside the bare parse of the largest.
fn growth(context: &ExtractContext) {
    let hostile: [(&str, usize, Hostile); 10] = [
        ("links", 10_000, |n| "[a](https://elsewhere.test/b) ".repeat(n)),
        ("reference links", 10_000, |n| "[a] ".repeat(n) + "\n\n[a]: https://elsewhere.test/b"),
        ("backticks", 100_000, |n| "`".repeat(n)),
        ("backtick runs", 1_000, |n| (1..n).map(|k| "`".repeat(k % 300) + " ").collect()),
        ("quotations", 5_000, |n| "> ".repeat(n) + "a"),
        ("brackets", 50_000, |n| "[".repeat(n)),
        ("HTML elements", 20_000, |n| "<code><a>".repeat(n)),
        ("paths half written", 50_000, |n| "a/b.rs(".repeat(n)),
        ("URLs", 10_000, |n| "https://code.harbour.test/a_b/((( ".repeat(n)),
        ("one line of words, bytes", 1_000_000, |n| "word/path!, ".repeat(n / 12)),
    ];
    println!("hostile text: milliseconds for n/4, n/2, n, and for the bare parse of n");
    for (name, n, text) in hostile {
        let [a, b, c] = [n / 4, n / 2, n].map(|n| {
            let prose = Prose::from(text(n));
            cost(&|| drop(black_box(prose.references(context))))
        });
        let (whole, options) = (text(n), gfm());
        let bare = cost(&|| {
            black_box(parse_document(&Arena::new(), &whole, &options));
        });
        println!("  {name:<26} n = {n:<9} {a:>9.2} {b:>9.2} {c:>9.2}   bare {bare:>9.2}");
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Milliseconds of processor time that `work` takes: the mean over a stretch that is long beside the ticks in
/// which Linux counts, so that a busy machine does not blur it. Elsewhere it is time on the clock.
fn cost(work: &dyn Fn()) -> f64 {
    let start = processor_time();
    let mut rounds = 0;
    while rounds == 0 || processor_time().saturating_sub(start) < STRETCH {
        work();
        rounds += 1;
    }
    processor_time().saturating_sub(start).as_secs_f64() * 1e3 / f64::from(rounds)
}

fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|stat| stat.split(' ').next()?.parse().ok())
        .map_or_else(|| START.elapsed(), Duration::from_nanos)
}
