//! The ordinary world: a group with documentation, an API, a gateway, and a project that nobody quotes.

use super::World;
use super::people::Level;
use crate::gitlab::{BOT, BOT_TOKEN, OWNER_TOKEN};

const MKDOCS: &str = "site_name: Acme documentation
site_url: https://docs.example.com/
docs_dir: docs
nav:
  - Home: index.md
  - Rotating keys: guide/keys.md
  - Rate limits: guide/limits.md
";

const INDEX: &str = "# Acme documentation

The Acme platform signs requests at the gateway and serves them through the API.

- Guides explain tasks from beginning to end.
- The reference lists every option with its default.
";

const KEYS: &str = "# Rotating signing keys

Requests to the gateway are signed with a key. Two keys may be active at the same time, so a key can be
replaced while clients keep working.

## Rotate a key without downtime

1. Add the new key under `signing.keys` and leave the old one in place.
2. Reload the gateway. Both keys are accepted from now on.
3. Move every client to the new key.
4. Remove the old key and reload again.

```yaml
signing:
  keys:
    - id: 2026-a
      secret_file: /run/secrets/signing-2026-a
    - id: 2026-b
      secret_file: /run/secrets/signing-2026-b
```

A reload does not drop open connections.

## When a key leaks

Remove the key at once with `acmectl keys revoke ID`. Requests signed with it are refused within ten seconds.
";

const LIMITS: &str = "# Rate limits

Every client may send 600 requests a minute. Above that the API answers `429 Too Many Requests` with a
`Retry-After` header that says how many seconds to wait.

## Raise the limit of one client

Set `limits.per_client` in `gateway.toml`, by client id:

```toml
[limits.per_client]
reporting = 2400
```

The gateway reads the file again within a minute; no restart is needed.
";

const GATEWAY: &str = "# Gateway

The gateway terminates TLS, checks signatures and forwards requests to the API.

## Configuration

The file is `/etc/acme/gateway.toml`. `acmectl gateway check` says what is wrong with it, line by line.

## Health

`GET /healthz` answers 200 as soon as the gateway accepts connections.
";

const CONFIG_RS: &str = "//! Reads `gateway.toml`.

/// How long a connection may be idle before it is closed.
pub const IDLE_TIMEOUT_SECONDS: u64 = 90;

/// The largest request body that is accepted, in bytes.
pub const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;
";

const INFRA: &str = "# Production access

The break-glass account is kept in the safe of the Leipzig office. Call the duty manager before you open it.
";

impl World {
    /// `acme` with `docs` and `api` (public), `platform/gateway` (internal) and `infra` (private); asker mara,
    /// developer tom, owner ines, stranger eve; a bot with [`BOT_TOKEN`], an owner with [`OWNER_TOKEN`].
    pub fn acme() -> World {
        let mut world = World::empty();
        world.add_group("acme");
        world.add_user("mara", "Mara Lindqvist");
        world.add_user("tom", "Tom Okafor");
        world.add_user("ines", "Ines Haddad");
        world.add_user("eve", "Eve Sandoval");
        world.add_bot(BOT, "signpost");
        world.add_bot("renovate", "Renovate");
        world.add_member("acme", "ines", Level::Owner);
        world.add_member("acme", "tom", Level::Developer);
        world.add_member("acme", BOT, Level::Reporter);
        world.add_token(BOT_TOKEN, BOT, &["api"]);
        world.add_token(OWNER_TOKEN, "ines", &["api"]);
        world.add_acme_projects();
        world
    }

    fn add_acme_projects(&mut self) {
        let docs = self.add_project("acme/docs").public().describe("Handbook and product documentation.");
        docs.files([
            ("mkdocs.yml", MKDOCS),
            ("README.md", "# Acme documentation\n\nBuilt with MkDocs.\n"),
            ("docs/index.md", INDEX),
            ("docs/guide/keys.md", KEYS),
            ("docs/guide/limits.md", LIMITS),
        ]);
        let api = self.add_project("acme/api").public().describe("Public HTTP API of the Acme platform.");
        api.files([
            ("README.md", "# API\n\nThe HTTP API of the Acme platform.\n"),
            ("src/config.rs", CONFIG_RS),
        ]);
        let gateway = self
            .add_project("acme/platform/gateway")
            .internal()
            .describe("Terminates TLS and checks signatures.");
        gateway.files([("README.md", GATEWAY)]);
        let infra = self.add_project("acme/infra").private().describe("How production is run.");
        infra.files([("docs/access.md", INFRA)]);
    }
}
