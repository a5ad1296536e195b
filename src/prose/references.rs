//! `Prose` to references: where a text says to look.
//!
//! A text may point at documentation and code in six ways, and each has a module of its own: a URL
//! ([`url`]), a link's destination ([`destination`]), a short form for a merge request or a commit
//! ([`shorthand`]), and a file path ([`path`]), in text or in a code span. Around them stand [`marks`] (what may
//! touch a reference), [`words`] (how a run of text falls apart), [`invisible`] (characters nobody sees) and
//! [`site`] (which hosts count).
//!
//! The rules are strict on purpose: a text is a stranger's, and what looks like two things is none. Nothing is
//! looked up here. `docs/extraction.md` tells the rules in one page.

mod destination;
pub(in crate::prose) mod invisible;
pub(in crate::prose) mod marks;
mod path;
mod shorthand;
mod site;
mod threads;
mod url;
pub(in crate::prose) mod words;

use thiserror::Error;

use crate::prose::Prose;
use crate::prose::markdown::{Quotations, Reader, Run, decode_url, read};
use crate::prose::references::site::Site;
use crate::prose::references::threads::Threads;
use crate::prose::references::words::{Atom, Piece, pieces};
use crate::reference::{ProjectPath, Reference};

/// How many references of one thread are looked at. A walk over several notes hands the rest of this number to
/// [`Prose::references_up_to`].
pub const REFERENCES_MAX: usize = 64;

/// Which sites count, and which project a text stands in.
#[derive(Clone, Debug)]
pub struct ExtractContext {
    instance: Site,
    docsites: Vec<Site>,
    project: ProjectPath,
}

/// Why a site cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ContextError {
    /// It is no URL at all.
    #[error("`{0}` is no URL")]
    NotAUrl(String),
    /// It is a URL of another kind.
    #[error("`{0}` is no http or https URL with a host")]
    NotHttp(String),
    /// It holds a user name or password.
    #[error("a site's URL must not hold credentials")]
    Credentials,
}

impl ExtractContext {
    /// The context of texts in `project`: `instance` is GitLab's URL (with its port and relative root, if it has
    /// them), `docsites` are base URLs of documentation sites. Where a URL names no port, the default ports of
    /// both schemes count as it; where it names one, only that port does.
    ///
    /// # Errors
    /// [`ContextError`] when one of the URLs is none, is not `http(s)`, or holds credentials.
    pub fn new<'u>(
        instance: &str,
        docsites: impl IntoIterator<Item = &'u str>,
        project: ProjectPath,
    ) -> Result<ExtractContext, ContextError> {
        let instance = Site::parse(instance)?;
        let docsites = docsites.into_iter().map(Site::parse).collect::<Result<_, _>>()?;
        Ok(ExtractContext { instance, docsites, project })
    }

    /// The same sites, for texts in another project.
    pub fn within(&self, project: ProjectPath) -> ExtractContext {
        ExtractContext { project, ..self.clone() }
    }
}

impl Prose {
    /// The first [`REFERENCES_MAX`] references to documentation or code, in the order in which they stand in the
    /// text, without duplicates. Takes time linear in the length of the text, whatever it holds.
    pub fn references(&self, context: &ExtractContext) -> Vec<Reference> {
        self.references_up_to(context, REFERENCES_MAX)
    }

    /// The first `limit` references; see [`Prose::references`].
    pub fn references_up_to(&self, context: &ExtractContext, limit: usize) -> Vec<Reference> {
        let mut found = Found { context, limit, references: Vec::new() };
        read(&self.0, Quotations::Read, &mut found);
        found.references
    }

    /// Whether the text points at issues, epics or work items, and at nothing that could be cited.
    pub fn thread_only_signposts(&self, context: &ExtractContext) -> bool {
        let mut threads = Threads { context, count: 0 };
        read(&self.0, Quotations::Read, &mut threads);
        threads.count > 0 && self.references_up_to(context, 1).is_empty()
    }
}

/// The references found so far.
struct Found<'c> {
    context: &'c ExtractContext,
    limit: usize,
    references: Vec<Reference>,
}

impl Found<'_> {
    fn add(&mut self, reference: Option<Reference>) {
        if let Some(reference) = reference
            && !self.satisfied()
            && !self.references.contains(&reference)
        {
            self.references.push(reference);
        }
    }

    /// Adds what `atom` names; returns how many bytes behind it belong to the name.
    fn atom(&mut self, atom: Atom<'_>) -> usize {
        let with_tail =
            shorthand::merge_request(atom, self.context).or_else(|| path::in_text(atom, self.context));
        let (reference, used) = match with_tail {
            Some((reference, used)) => (Some(reference), used),
            None => (shorthand::commit(atom, self.context), 0),
        };
        self.add(reference);
        used
    }
}

impl Reader for Found<'_> {
    fn run(&mut self, run: &Run) {
        pieces(run, |piece| match piece {
            Piece::Url { url, apart } => {
                self.add(url::reference(&decode_url(url), self.context).filter(|_| apart));
                0
            }
            Piece::Atom(atom) => self.atom(atom),
        });
    }

    fn code(&mut self, span: &str) {
        let span = span.trim().trim_matches(|c| invisible::is_invisible(c) || c.is_whitespace());
        self.add(path::in_code(span, self.context));
    }

    fn destination(&mut self, destination: &str) {
        self.add(destination::reference(destination, self.context));
    }

    fn satisfied(&self) -> bool {
        self.references.len() >= self.limit
    }
}
