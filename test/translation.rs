//! Documentation in several languages: the asker's is quoted, otherwise the default one.

use signpost::config::Config;

use crate::app::on_both;
use crate::gitlab::{Change, World};
use crate::life::{API, HOW, HOW_MORE};

const GERMAN: &str = "# Signing-Keys rotieren

Requests an das Gateway werden mit einem Key signiert. Zwei Keys dürfen gleichzeitig aktiv sein, ein Key kann also
ersetzt werden, während die Clients weiterarbeiten.

## Einen Signing-Key ohne Downtime rotieren

1. Den neuen Key unter `signing.keys` eintragen und den alten stehen lassen.
2. Das Gateway neu laden. Ab jetzt gelten beide Keys.
3. Jeden Client auf den neuen Key umstellen.
4. Den alten Key entfernen und noch einmal neu laden.

```yaml
signing:
  keys:
    - id: 2026-a
      secret_file: /run/secrets/signing-2026-a
    - id: 2026-b
      secret_file: /run/secrets/signing-2026-b
```

Beim Neuladen bleiben offene Verbindungen bestehen.

## Wenn ein Key bekannt wird

Den Key sofort mit `acmectl keys revoke ID` entfernen. Requests mit diesem Key werden nach zehn Sekunden abgelehnt.
";
const WIE: &str = "Wie kann ich einen Signing-Key ohne Downtime rotieren?";
const WIE_MEHR: &str = "Wir haben viele Clients am Gateway und können sie nicht alle auf einmal anhalten. Gibt es einen Weg, den \
                        Signing-Key des Gateways zu ersetzen, während die Clients weiterarbeiten?";

const SPANISH: &str = "cómo puedo hacer esto: rotate signing key without downtime?";
const SPANISH_MORE: &str =
    "Los clients keep working, al hacer replace signing key gateway. No puedo stop los clients.";

const MIXED: &str = "Rotate a key without downtime: add the new key, reload the gateway, move every client, remove the old key. Wie kann \
                     ich das tun? Wir können nicht alle Clients auf einmal anhalten.";

fn translated() -> World {
    let mut world = World::acme();
    let page = Change::Write("docs/de/guide/keys.md".to_owned(), GERMAN.into());
    world.commit("acme/docs", None, "ines", "Translate the guide", vec![page]);
    world
}

/// The judge has read little but English: with less certainty asked of it, German passes.
fn lenient(config: &mut Config) {
    config.answer.max_wrong = 0.8;
}

on_both! {
    async fn each_asker_gets_the_page_in_their_language_or_the_default_one(app: TestApp, translated(), lenient) {
        for (title, text, page) in [
            (HOW, HOW_MORE, "/docs/guide/keys.md"),
            (WIE, WIE_MEHR, "/docs/de/guide/keys.md"),
            // The English page has more of these words.
            (WIE, MIXED, "/docs/de/guide/keys.md"),
            (SPANISH, SPANISH_MORE, "/docs/guide/keys.md"),
        ] {
            let iid = app.ask(API, "mara", title, text).await;
            assert_eq!(app.notes(API, iid).len(), 1, "{:#?}", app.trail(API, iid).await);
            let note = app.note(API, iid);
            let other = if page.contains("/de/") { "/docs/guide/keys.md" } else { "/docs/de/" };
            assert!(note.contains(page) && !note.contains(other), "{:#?}", app.trail(API, iid).await);
        }
    }
}

on_both! {
    async fn a_translation_that_lost_the_answer_does_not_hide_it(app: TestApp, translated(), lenient) {
        let stub = "# Signing-Keys rotieren\n\nDiese Seite wird noch übersetzt.\n";
        app.gitlab.edit_file("acme/docs", "docs/en/guide/keys.md", stub).await;
        app.drain().await;
        let iid = app.ask(API, "mara", HOW, HOW_MORE).await;
        let note = app.note(API, iid);
        assert!(note.contains("/docs/guide/keys.md"), "{note}");
    }
}
