//! The gate's features of issues, for the training recipe: JSON lines `[title, description]` in, `[[bucket, value]]` out.

use std::io::{BufRead, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let (title, description): (String, String) = serde_json::from_str(&line?)?;
        serde_json::to_writer(&mut out, &signpost_reader::parts::features(&title, &description))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
