//! Made-up text, the same on every machine: words of a Zipf-like vocabulary.

const VOCABULARY: usize = 40_000;

/// xorshift64*: the same corpus on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    /// A word; the frequency of the n-th is about 1/n.
    pub fn word(&mut self) -> String {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (VOCABULARY as f64).powf(uniform) as usize;
        let syllables = [
            "ka", "lo", "mi", "ter", "su", "pon", "ra", "vel", "dis", "con", "fig", "ur", "ex", "ing", "qua",
            "bro",
        ];
        let mut word = String::new();
        let mut rest = rank + 16;
        while rest > 0 {
            word.push_str(syllables[rest % syllables.len()]);
            rest /= syllables.len();
        }
        word
    }

    pub fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}
