//! `signpost install` and `signpost uninstall`: the hook with every switch, and the label.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use url::Url;

use crate::answer::label;
use crate::cli::Verdict;
use crate::cli::invocation::Invocation;
use crate::config::{Config, Secrets};
use crate::gitlab::{Error, GitLab, Hook, HookOwner, HookSettings};
use crate::store::Store;
use crate::target::corpus::{Corpus, Scope};

/// Arguments of `signpost install`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The address under which GitLab reaches the bot, such as `https://signpost.example.com/hook`.
    #[arg(long, value_name = "URL")]
    pub hook_url: Url,
    /// A hook on each qualifying project instead of one on the group: for tiers without group hooks.
    #[arg(long)]
    pub projects: bool,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Keep the tokens that are set; without it a fresh signing token is made.
    #[arg(long)]
    pub keep_token: bool,
    /// Have GitLab not verify the bot's certificate.
    #[arg(long)]
    pub insecure_tls: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `signpost uninstall`.
#[derive(clap::Args, Debug)]
pub struct UninstallArgs {
    /// The address of the hook that goes; `hook.public_url` when it is not given.
    #[arg(long, value_name = "URL")]
    pub hook_url: Option<Url>,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// Creates or mends the hook and the label.
///
/// # Errors
/// GitLab cannot be reached, or the token may not manage hooks.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, secrets) = invocation.load()?;
    Invocation::block_on(install(args, config, secrets))
}

fn client(config: &Config, secrets: &Secrets) -> anyhow::Result<GitLab> {
    match secrets.install.clone() {
        Some(token) => Invocation::gitlab_with(config, token),
        None => Invocation::gitlab(config, secrets),
    }
}

fn fresh_token() -> anyhow::Result<SecretString> {
    let mut key = [0u8; 32];
    getrandom::fill(&mut key).map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
    Ok(SecretString::from(format!("whsec_{}", STANDARD.encode(key))))
}

async fn install(args: Args, config: Config, secrets: Secrets) -> anyhow::Result<Verdict> {
    if args.hook_url.path() == "/" {
        anyhow::bail!("--hook-url {}: hooks are taken at /hook; give {}hook", args.hook_url, args.hook_url);
    }
    let gitlab = client(&config, &secrets)?;
    let metadata = gitlab.metadata().await?;
    let signs = metadata.release().is_none_or(|release| release >= (19, 0));
    let owners = owners(&gitlab, &config, args.projects).await?;
    let token = if args.keep_token { None } else { Some(fresh_token()?) };
    let kept = (secrets.signing.first().cloned(), secrets.plain.first().cloned());
    let mut settings = HookSettings {
        url: args.hook_url.clone(),
        signing_token: token.clone(),
        // An instance that does not sign sends the plain token instead.
        secret_token: if signs { None } else { token.clone() },
        verify_tls: !args.insecure_tls,
    };
    // Who may not look is told before anything is changed.
    let mut hooks = Vec::with_capacity(owners.len());
    for owner in &owners {
        hooks.push(hooks_of(&gitlab, owner).await?);
    }
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    for (owner, hooks) in owners.iter().zip(&hooks) {
        match set_hook(&gitlab, (owner, hooks), &mut settings, (&token, &kept), args.dry_run).await {
            Ok(line) => lines.push(line),
            Err(error) => failed.push(format!("{}: {error:#}", name(owner))),
        }
    }
    let signed = settings.secret_token.is_none();
    match set_label(&gitlab, &config, args.dry_run).await {
        Ok(line) => lines.push(line),
        Err(error) => failed.push(format!("label {}: {error:#}", config.gap.label)),
    }
    // A token that a hook has by now must be seen, whatever else went wrong.
    if !lines.is_empty() {
        report(&args, &token, signed, &lines);
    }
    anyhow::ensure!(
        failed.is_empty(),
        "not done: {}. Run the command again with --keep-token, once the bot has the token",
        failed.join("; ")
    );
    Ok(Verdict::Fine)
}

/// The group, or each of its qualifying projects.
async fn owners(gitlab: &GitLab, config: &Config, projects: bool) -> anyhow::Result<Vec<HookOwner>> {
    if !projects {
        return Ok(vec![HookOwner::Group(config.group().to_owned())]);
    }
    let scope = Scope {
        group: config.group().to_owned(),
        exclude: config.corpus.exclude.clone(),
        ..Scope::default()
    };
    let corpus = Corpus::new(&scope)?;
    let mut owners = Vec::new();
    let mut pages = gitlab.group_projects(config.group())?;
    while let Some(page) = pages.next().await? {
        let served = page.iter().filter(|project| corpus.admit_thread(project).is_ok());
        owners.extend(served.map(|project| HookOwner::Project(project.id)));
    }
    anyhow::ensure!(!owners.is_empty(), "the group {} has no project that qualifies", config.group());
    Ok(owners)
}

fn name(owner: &HookOwner) -> String {
    match owner {
        HookOwner::Group(path) => format!("group {path}"),
        HookOwner::Project(id) => format!("project {id}"),
    }
}

/// The hooks of a group or project.
async fn hooks_of(gitlab: &GitLab, owner: &HookOwner) -> anyhow::Result<Vec<Hook>> {
    let needs = match owner {
        HookOwner::Group(_) => "group hooks need Premium and an Owner's token; on other tiers use --projects",
        HookOwner::Project(_) => "a project's hooks need a Maintainer's token",
    };
    match gitlab.hooks(owner).await {
        Ok(Some(hooks)) => Ok(hooks),
        Ok(None) | Err(Error::Denied(_)) => anyhow::bail!(
            "{} has no hooks that this token may see: {needs} (set SIGNPOST_INSTALL_TOKEN for this command alone)",
            name(owner)
        ),
        Err(error) => Err(error.into()),
    }
}

/// Creates the hook, or mends the one that has our address. An instance that ignored the signing token gets the
/// plain one.
async fn set_hook(
    gitlab: &GitLab,
    (owner, hooks): (&HookOwner, &[Hook]),
    settings: &mut HookSettings,
    (token, kept): (&Option<SecretString>, &(Option<SecretString>, Option<SecretString>)),
    dry_run: bool,
) -> anyhow::Result<String> {
    let ours: Vec<&Hook> = hooks.iter().filter(|hook| hook.url == settings.url.as_str()).collect();
    if dry_run {
        let what = if ours.is_empty() { "would be created" } else { "would be mended" };
        return Ok(format!("{}: the hook {what}", name(owner)));
    }
    for extra in ours.iter().skip(1) {
        gitlab.delete_hook(owner, extra.id).await?;
    }
    let (mut hook, what) = match ours.first() {
        Some(hook) => (gitlab.mend_hook(owner, hook.id, settings).await?, "mended"),
        None => {
            // A new hook has no token to keep: it gets those that the bot is configured with.
            let mut made = settings.clone();
            if token.is_none() {
                (made.signing_token, made.secret_token) = kept.clone();
            }
            (gitlab.create_hook(owner, &made).await?, "created")
        }
    };
    if token.is_some() && settings.secret_token.is_none() && hook.signed != Some(true) {
        settings.secret_token = token.clone();
        hook = gitlab.mend_hook(owner, hook.id, settings).await?;
    }
    let missing = if hook.missing.is_empty() {
        String::new()
    } else {
        format!("; still off: {}", hook.missing.join(", "))
    };
    Ok(format!("{}: hook {} {what}{missing}", name(owner), hook.id))
}

async fn set_label(gitlab: &GitLab, config: &Config, dry_run: bool) -> anyhow::Result<String> {
    let label = &config.gap.label;
    if gitlab.find_group_label(config.group(), label).await?.is_some() {
        return Ok(format!("label {label}: there"));
    }
    if let Some(renamed) = renamed_label(gitlab, config).await {
        return Ok(format!("label {label}: renamed to {renamed}; set gap.label = \"{renamed}\""));
    }
    if dry_run {
        return Ok(format!("label {label}: would be created in the group"));
    }
    gitlab.create_group_label(config.group(), label).await?;
    Ok(format!("label {label}: created in the group"))
}

/// The name that the gap label has by now, where the bot's database knows it and somebody renamed it in GitLab.
async fn renamed_label(gitlab: &GitLab, config: &Config) -> Option<String> {
    let url = &config.database.url;
    // Looking must not make an empty one.
    if url.strip_prefix("sqlite://").is_some_and(|path| !std::path::Path::new(path).exists()) {
        return None;
    }
    let store = Store::open(url).await.ok()?;
    let known = label::remembered(&store, &config.gap.label).await.ok().flatten();
    store.close().await;
    let label = gitlab.find_group_label_by_id(config.group(), known?).await.ok().flatten()?;
    Some(label.name().to_owned())
}

fn report(args: &Args, token: &Option<SecretString>, signed: bool, lines: &[String]) {
    let variable = if signed { "SIGNPOST_SIGNING_TOKEN" } else { "SIGNPOST_SECRET_TOKEN" };
    let shown = token.as_ref().filter(|_| !args.dry_run).map(|t| t.expose_secret().to_owned());
    if args.json {
        let value = json!({
            "hook_url": args.hook_url.as_str(), "did": lines, "signed": signed,
            "variable": variable, "token": shown, "dry_run": args.dry_run,
        });
        println!("{value}");
        return;
    }
    for line in lines {
        println!("{line}");
    }
    if args.dry_run {
        println!("nothing was changed");
        return;
    }
    if !signed {
        println!("This GitLab is older than 19.0 and does not sign: the plain secret token is used instead.");
    }
    if let Some(token) = shown {
        println!("\nPut this into the bot's environment; it is shown once:\n  {variable}={token}");
    }
    println!("and this into signpost.toml:\n  [hook]\n  public_url = \"{}\"", args.hook_url);
    if args.projects {
        println!("  projects = true");
        println!(
            "A project that joins the group later gets its hook by itself where SIGNPOST_INSTALL_TOKEN is in the bot's"
        );
        println!("environment, or where the bot's own token may manage hooks; else run this command again.");
    }
    println!("Then start `signpost serve` and run `signpost check`.");
}

/// Removes the hook, from the group and from its projects.
///
/// # Errors
/// As [`run`].
pub fn uninstall(args: UninstallArgs, invocation: &Invocation) -> anyhow::Result<Verdict> {
    let (config, secrets) = invocation.load()?;
    let url = args.hook_url.or(config.hook.public_url.clone());
    let url = url.ok_or_else(|| anyhow::anyhow!("which hook? give --hook-url, or set hook.public_url"))?;
    Invocation::block_on(async {
        let gitlab = client(&config, &secrets)?;
        let mut all = vec![HookOwner::Group(config.group().to_owned())];
        // Also those that were excluded since: their events must not go on coming.
        let mut pages = gitlab.group_projects(config.group())?;
        while let Some(page) = pages.next().await? {
            all.extend(page.iter().map(|project| HookOwner::Project(project.id)));
        }
        let (mut removed, mut unseen) = (0, 0);
        for owner in &all {
            // A token without the right to see a group's hooks may still see a project's.
            let hooks = match gitlab.hooks(owner).await {
                Ok(Some(hooks)) => hooks,
                Ok(None) | Err(Error::Denied(_)) => {
                    unseen += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            for hook in hooks.iter().filter(|hook| hook.url == url.as_str()) {
                if !args.dry_run {
                    gitlab.delete_hook(owner, hook.id).await?;
                }
                removed += 1;
                println!(
                    "{}: hook {} {}",
                    name(owner),
                    hook.id,
                    if args.dry_run { "would go" } else { "removed" }
                );
            }
        }
        println!("{removed} hooks; the label and the notes stay");
        if unseen == all.len() {
            eprintln!(
                "signpost: this token may see no hook: an Owner's or Maintainer's can (SIGNPOST_INSTALL_TOKEN)"
            );
            return Ok(Verdict::Wrong);
        }
        Ok(Verdict::Fine)
    })
}
