//! What the program computes, for measuring: JSON lines of questions and passages in, scores and vectors out.

use std::io::{BufRead, Write};
use std::time::Instant;

use signpost_reader::{Reader, essence, parts};

#[derive(serde::Deserialize)]
struct Input {
    title: String,
    description: String,
    passages: Vec<(String, String)>,
    #[serde(default)]
    vectors: bool,
    #[serde(default)]
    unread: bool,
}

#[derive(serde::Serialize)]
struct Output {
    cover: Vec<f32>,
    question: Vec<f32>,
    passages: Vec<Vec<f32>>,
    question_ids: Vec<u32>,
    passage_ids: Vec<Vec<u32>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let reader = Reader::load();
    eprintln!("load {:?}", start.elapsed());
    let pieces = parts::WordPiece::load();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let (mut reading, mut read, mut embedding, mut embedded) = (0.0, 0, 0.0, 0);
    for line in std::io::stdin().lock().lines() {
        let input: Input = serde_json::from_str(&line?)?;
        let passages: Vec<(&str, &str)> =
            input.passages.iter().map(|(h, t)| (h.as_str(), t.as_str())).collect();
        let start = Instant::now();
        let cover =
            if input.unread { Vec::new() } else { reader.cover(&input.title, &input.description, &passages) };
        reading += start.elapsed().as_secs_f64();
        read += passages.len();
        let essence = essence(&input.title, &input.description);
        let (mut question, mut vectors) = (Vec::new(), Vec::new());
        if input.vectors {
            let start = Instant::now();
            question = reader.embed_question(&essence);
            vectors = passages.iter().map(|(h, t)| reader.embed_passage(h, t)).collect();
            embedding += start.elapsed().as_secs_f64();
            embedded += 1 + passages.len();
        }
        let terms = parts::terms(&essence);
        let passage_ids =
            passages.iter().map(|(h, t)| parts::reading(&pieces, h, t, &terms, parts::PASSAGE)).collect();
        let question_ids = pieces.encode(&essence, parts::QUESTION);
        serde_json::to_writer(
            &mut out,
            &Output { cover, question, passages: vectors, question_ids, passage_ids },
        )?;
        out.write_all(b"\n")?;
    }
    eprintln!("read {read} passages, {:.1} ms each", 1e3 * reading / f64::from(u32::try_from(read.max(1))?));
    eprintln!(
        "embedded {embedded} texts, {:.1} ms each",
        1e3 * embedding / f64::from(u32::try_from(embedded.max(1))?)
    );
    Ok(())
}
