use clap::Parser;

use super::*;
use crate::gaps::testing::{fingerprint, gap};
use crate::target::Project;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

struct World {
    store: Store,
    config: Config,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("s.db").display());
        let store = Store::open(&url).await.unwrap();
        let text = "[gitlab]\nurl = \"https://gitlab.example.com\"\ngroup = \"acme\"";
        let config = Config::parse(text, "test", &vec![]).unwrap();
        let project = Project::sample(1, "acme/api");
        store.save_project(&project, None, 1).await.unwrap();
        for (iid, title) in
            [(1, "How long do tokens live?"), (2, "Token life time: how long?"), (3, "Dark theme")]
        {
            let record = gap(1, iid, iid, fingerprint(title, ""));
            store.save_question(&record).await.unwrap();
        }
        World { store, config, _folder: folder }
    }

    async fn run(&self, line: &str) -> anyhow::Result<String> {
        let args = Line::try_parse_from(std::iter::once("gaps").chain(line.split_whitespace()))?.args;
        answer(&args, &self.config, &self.store, &Clock::manual(1_700_100_000_000)).await
    }

    async fn ids(&self) -> Vec<String> {
        let json: Vec<serde_json::Value> =
            serde_json::from_str(&self.run("--json --state all").await.unwrap()).unwrap();
        json.iter().map(|gap| gap["id"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn the_list_is_printed_in_three_ways() {
    let world = World::new().await;
    let table = world.run("").await.unwrap();
    assert!(table.contains("acme/api#2") && table.contains("missing"), "{table}");
    assert_eq!(world.run("--format csv").await.unwrap().lines().count(), 3);
    assert_eq!(world.ids().await.len(), 2);
    assert_eq!(world.run("--state closed").await.unwrap(), "No entry.\n");
    assert_eq!(world.run("--kind near --json").await.unwrap(), "[]\n");
    assert!(world.run("--kind nonsense").await.is_err());
}

#[tokio::test]
async fn decisions_are_remembered() {
    let world = World::new().await;
    let [both, dark]: [String; 2] = world.ids().await.try_into().unwrap();

    let said = world.run(&format!("split {both} acme/api/2")).await.unwrap();
    let new = said.split_whitespace().nth(3).unwrap().to_owned();
    assert_eq!(said, format!("acme/api#2 is entry {new} now\n"));
    assert_eq!(world.ids().await.len(), 3);
    assert!(world.run(&format!("split {new} 1#2")).await.is_err());
    assert!(world.run(&format!("split {both} acme/api#9")).await.is_err());

    world.run(&format!("merge {both} {new}")).await.unwrap();
    assert_eq!(world.ids().await, [both.clone(), dark.clone()]);
    assert!(world.run(&format!("merge {both} {new}")).await.is_err());
    // The old name still names the entry.
    world.run(&format!("dismiss {new}")).await.unwrap();
    assert!(!world.run("").await.unwrap().contains(&both));
    assert!(world.run("--state dismissed").await.unwrap().contains(&both));
    world.run(&format!("dismiss {both} --undo")).await.unwrap();
    assert!(world.run("").await.unwrap().contains(&both));

    world.run(&format!("assign {both} docs/tokens.md")).await.unwrap();
    world.run(&format!("assign {dark} acme/api:docs/theme.md")).await.unwrap();
    let json = world.run("--json").await.unwrap();
    assert!(json.contains("https://gitlab.example.com/acme/api/-/blob/main/docs/tokens.md"), "{json}");
    for wrong in
        ["assign nothing docs/x.md", &format!("assign {both} ../x"), &format!("assign {both} acme/web:x.md")]
    {
        assert!(world.run(wrong).await.is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn ids_survive_what_the_pipeline_writes_later() {
    let world = World::new().await;
    let before = world.ids().await;
    // The pipeline read the record before it had a cluster, and writes it back.
    world.store.save_question(&gap(1, 3, 3, fingerprint("Another theme", "altogether"))).await.unwrap();
    assert_eq!(world.ids().await, before);
}
