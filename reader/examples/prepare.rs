//! Turns questions and passages into what the model reads, for the training recipe: JSON lines in, JSON lines out.

use std::io::{BufRead, Write};

use signpost_reader::{essence, parts};

#[derive(serde::Deserialize)]
struct Input {
    title: String,
    description: String,
    passages: Vec<(String, String)>,
}

#[derive(serde::Serialize)]
struct Output {
    essence: String,
    question: Vec<u32>,
    passages: Vec<Vec<u32>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pieces = parts::WordPiece::load();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let input: Input = serde_json::from_str(&line?)?;
        let essence = essence(&input.title, &input.description);
        let terms = parts::terms(&essence);
        let question = pieces.encode(&essence, parts::QUESTION);
        let passages = input
            .passages
            .iter()
            .map(|(h, t)| parts::reading(&pieces, h, t, &terms, parts::PASSAGE))
            .collect();
        serde_json::to_writer(&mut out, &Output { essence, question, passages })?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
