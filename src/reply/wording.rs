//! Every sentence that the bot can say, in every language it speaks.

use crate::reference::Lines;
use crate::reply::Language;

/// How a note is worded: its language, and the instance whose files it links to.
#[derive(Clone, Debug)]
pub struct Wording {
    language: Language,
    web: String,
}

/// The fixed sentences of one language. `verify` compares with these bytes: a change here is a new
/// [`FORMAT`](crate::reply::marker::FORMAT).
pub(crate) struct Sentences {
    /// How to say that the passage does not help, and where its words come from.
    pub source: &'static str,
    /// The passage goes on in the file.
    pub cut: &'static str,
    /// Leads to further places.
    pub also: &'static str,
    /// The text of the link to the documentation site.
    pub page: &'static str,
    /// Before a short commit.
    pub commit: &'static str,
    line: &'static str,
    lines: &'static str,
    /// Nothing answers the question that a comment put to the bot.
    pub nothing: &'static str,
    /// The answer was marked as wrong.
    pub withdrawn: &'static str,
    /// The answer answered an earlier question, or quoted what is no longer there.
    pub outdated: &'static str,
}

const ENGLISH: Sentences = Sentences {
    source: "Quoted word for word from this file. Not what was asked? A 👎 on this comment takes it back.",
    cut: "[…] The passage goes on in the file.",
    also: "See also",
    page: "Read it on the documentation site",
    commit: "commit",
    line: "line",
    lines: "lines",
    nothing: "The documentation has no passage that answers this. It is noted as a gap.",
    withdrawn: "The passage quoted here was marked as wrong and has been withdrawn. The question is noted as a gap in the documentation.",
    outdated: "The passage quoted here no longer answers the question and has been withdrawn. The question is noted as a gap in the documentation.",
};

const GERMAN: Sentences = Sentences {
    source: "Wörtlich aus dieser Datei zitiert. War etwas anderes gefragt? Ein 👎 an diesem Kommentar nimmt ihn zurück.",
    cut: "[…] Der Abschnitt geht in der Datei weiter.",
    also: "Siehe auch",
    page: "Auf der Dokumentationsseite lesen",
    commit: "Commit",
    line: "Zeile",
    lines: "Zeilen",
    nothing: "In der Dokumentation steht nichts, was diese Frage beantwortet. Sie ist als Lücke vermerkt.",
    withdrawn: "Die hier zitierte Stelle wurde als falsch markiert und zurückgezogen. Die Frage ist als Lücke in der Dokumentation vermerkt.",
    outdated: "Die hier zitierte Stelle beantwortet die Frage nicht mehr und wurde zurückgezogen. Die Frage ist als Lücke in der Dokumentation vermerkt.",
};

const FRENCH: Sentences = Sentences {
    source: "Cité mot pour mot depuis ce fichier. Ce n’était pas la question ? Un 👎 sur ce commentaire le retire.",
    cut: "[…] Le passage continue dans le fichier.",
    also: "Voir aussi",
    page: "Lire sur le site de documentation",
    commit: "commit",
    line: "ligne",
    lines: "lignes",
    nothing: "Aucun passage de la documentation ne répond à cette question. Elle est notée comme une lacune.",
    withdrawn: "Le passage cité ici a été signalé comme erroné et retiré. La question est notée comme une lacune de la documentation.",
    outdated: "Le passage cité ici ne répond plus à la question et a été retiré. La question est notée comme une lacune de la documentation.",
};

const SPANISH: Sentences = Sentences {
    source: "Citado palabra por palabra de este archivo. ¿No era esa la pregunta? Un 👎 en este comentario lo retira.",
    cut: "[…] El pasaje continúa en el archivo.",
    also: "Véase también",
    page: "Leer en el sitio de documentación",
    commit: "commit",
    line: "línea",
    lines: "líneas",
    nothing: "La documentación no contiene ningún pasaje que responda a esto. Queda anotado como una laguna.",
    withdrawn: "El pasaje citado aquí se marcó como incorrecto y se ha retirado. La pregunta queda anotada como una laguna de la documentación.",
    outdated: "El pasaje citado aquí ya no responde a la pregunta y se ha retirado. La pregunta queda anotada como una laguna de la documentación.",
};

const PORTUGUESE: Sentences = Sentences {
    source: "Citado palavra por palavra deste arquivo. Não era essa a pergunta? Um 👎 neste comentário o retira.",
    cut: "[…] A passagem continua no arquivo.",
    also: "Veja também",
    page: "Ler no site da documentação",
    commit: "commit",
    line: "linha",
    lines: "linhas",
    nothing: "A documentação não tem nenhuma passagem que responda a isto. Fica anotado como uma lacuna.",
    withdrawn: "A passagem citada aqui foi marcada como errada e retirada. A pergunta fica anotada como uma lacuna da documentação.",
    outdated: "A passagem citada aqui já não responde à pergunta e foi retirada. A pergunta fica anotada como uma lacuna da documentação.",
};

impl Wording {
    /// Words notes in `language` for the instance at `web`: scheme, host, port and relative root, as in
    /// `https://gitlab.example.com`; a trailing slash is dropped.
    pub fn new(language: Language, web: &str) -> Wording {
        Wording { language, web: web.trim_end_matches('/').to_owned() }
    }

    /// The language of the fixed sentences.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The instance's address, without a trailing slash.
    pub fn web(&self) -> &str {
        &self.web
    }
}

impl Language {
    /// The sentences of this language.
    pub(crate) fn sentences(self) -> &'static Sentences {
        match self {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
            Language::French => &FRENCH,
            Language::Spanish => &SPANISH,
            Language::Portuguese => &PORTUGUESE,
        }
    }
}

impl Sentences {
    /// `lines 10–20`, `line 10`.
    pub(crate) fn lines(&self, lines: Lines) -> String {
        match lines {
            Lines { first, last } if first == last => format!("{} {first}", self.line),
            Lines { first, last } => format!("{} {first}–{last}", self.lines),
        }
    }
}
