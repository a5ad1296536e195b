//! The pages in a real browser: `SIGNPOST_BROWSER=chromium` names it, `SIGNPOST_SCREENSHOTS` a folder for what it saw.
//! `.ci/run browser` installs one and runs this.

#![expect(clippy::unwrap_used, reason = "a test whose world cannot be made fails")]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::world::World;

async fn run(browser: &str, arguments: &[String]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = tokio::process::Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--virtual-time-budget=3000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(arguments)
        .stderr(Stdio::piped())
        .output()
        .await
        .expect("the browser starts: `apt-get install chromium`, or name another in SIGNPOST_BROWSER");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Page, file name, window, whether in the dark.
const VIEWS: [(&str, &str, &str, bool); 6] = [
    ("/gaps?state=all", "gaps", "1280,1600", false),
    ("/gaps", "gaps-dark", "1280,1600", true),
    ("/gaps?state=all", "gaps-narrow", "500,1600", false),
    ("/", "overview", "1280,1200", false),
    ("/", "overview-dark", "1280,1200", true),
    ("/threads/1/1", "thread", "1280,1000", false),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a browser: `.ci/run browser`"]
async fn the_pages_are_drawn_by_a_browser_at_0_20_and_2000_gaps() {
    let browser = std::env::var("SIGNPOST_BROWSER").unwrap_or_else(|_| "chromium".to_owned());
    let folder = std::env::var("SIGNPOST_SCREENSHOTS").map_or_else(|_| std::env::temp_dir(), PathBuf::from);
    for count in [0, 20, 2000] {
        let world = World::new(None).await;
        if count > 0 {
            world.ask(count).await;
        }
        let dom = run(&browser, &["--dump-dom".into(), world.url("/gaps?state=all")]).await;
        let rows = dom.matches("<tr role=\"row\" id=").count() as u64;
        assert_eq!(rows, count.min(50), "{count} gaps");
        for (path, name, window, dark) in VIEWS {
            shoot(&browser, &folder, &world.url(path), &format!("{name}-{count}"), window, dark).await;
        }
    }
}

async fn shoot(browser: &str, folder: &Path, url: &str, name: &str, window: &str, dark: bool) {
    let file = folder.join(format!("{name}.png"));
    let mut arguments = vec![format!("--window-size={window}"), format!("--screenshot={}", file.display())];
    if dark {
        arguments.push("--blink-settings=preferredColorScheme=0".into());
    }
    arguments.push(url.to_owned());
    run(browser, &arguments).await;
    assert!(std::fs::metadata(&file).is_ok_and(|file| file.len() > 1000), "{name}");
}
