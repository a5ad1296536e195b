//! The file: chapters of templates, each expanded over its `each` to cases.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// How to read the file, for people.
    #[serde(rename = "about")]
    _about: String,
    /// Texts that cases use as `{{name}}`.
    pub words: BTreeMap<String, String>,
    /// Lists that templates share by YAML anchors.
    #[serde(default, rename = "shared")]
    _shared: Value,
    /// What happens first in every world.
    pub world: Vec<Value>,
    pub chapters: Vec<Chapter>,
}

/// Cases that share a world.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    #[serde(rename = "chapter")]
    pub name: String,
    /// What happens before the first case.
    #[serde(default)]
    pub world: Vec<Value>,
    cases: Vec<Template>,
}

/// A case, or many that differ in the values of `each`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    id: String,
    why: String,
    /// Name, then the values by their short names: one case for every combination.
    #[serde(default)]
    each: BTreeMap<String, BTreeMap<String, Value>>,
    /// Further names, made of the chosen values.
    #[serde(default)]
    with: BTreeMap<String, Value>,
    steps: Vec<Value>,
    expect: Value,
    /// What must occur in no note.
    #[serde(default)]
    never: Vec<Value>,
}

/// One case, ready to be played: only what is known while playing is still to be filled in.
pub struct Case {
    pub id: String,
    pub why: String,
    pub steps: Vec<Value>,
    pub expect: Expect,
    pub never: Vec<String>,
}

/// What must come of the thread that the case asks in.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// One note that quotes this file (`project:path`), and no label.
    Cites(String),
    /// That, or the gap.
    CitesOrGap(String),
    /// That, or no quotation, whatever the label.
    CitesOrNothing(String),
    /// The gap label and no quotation.
    Gap,
    /// Nothing at all.
    Silence,
    /// The gap or nothing.
    Nothing,
}

impl File {
    /// Reads the file. Panics with the reason when it is none.
    pub fn read(path: &str) -> File {
        let text = std::fs::read_to_string(path).expect("the corpus is there");
        let yaml: serde_norway::Value = serde_norway::from_str(&text).expect("the corpus is YAML");
        let json = serde_json::to_value(yaml).expect("the corpus has no strange keys");
        serde_json::from_value(json).expect("the corpus has the form that it describes")
    }
}

impl Chapter {
    /// All cases of the chapter, in the file's order.
    pub fn expand(&self) -> Vec<Case> {
        self.cases.iter().flat_map(Template::expand).collect()
    }
}

impl Template {
    fn expand(&self) -> Vec<Case> {
        let mut all: Vec<(String, Map<String, Value>)> = vec![(self.id.clone(), Map::new())];
        for (name, values) in &self.each {
            let combined = |(id, chosen): &(String, Map<String, Value>)| {
                let one = |(short, value): (&String, &Value)| {
                    let mut chosen = chosen.clone();
                    chosen.insert(name.clone(), value.clone());
                    (format!("{id}/{short}"), chosen)
                };
                values.iter().map(one).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(combined).collect();
        }
        let with = |(id, mut chosen): (String, Map<String, Value>)| {
            let made: Vec<(String, Value)> =
                self.with.iter().map(|(k, v)| (k.clone(), fill(v, &chosen))).collect();
            chosen.extend(made);
            self.case(id, &chosen)
        };
        all.into_iter().map(with).collect()
    }

    fn case(&self, id: String, chosen: &Map<String, Value>) -> Case {
        let filled = |value: &Value| fill(value, chosen);
        let expect = serde_json::from_value(filled(&self.expect));
        let expect = expect.unwrap_or_else(|why| panic!("{id}: expect: {why}"));
        let never = self.never.iter().map(|text| match filled(text) {
            Value::String(text) => text,
            other => panic!("{id}: never: {other} is no text"),
        });
        Case { why: self.why.clone(), steps: splice(&self.steps, chosen), expect, never: never.collect(), id }
    }
}

/// A list in which `"{{name}}"` may stand for a whole list of further elements.
fn splice(list: &[Value], chosen: &Map<String, Value>) -> Vec<Value> {
    let filled = list.iter().map(|value| (value.is_string(), fill(value, chosen)));
    let spliced = filled.flat_map(|(was_text, value)| match value {
        Value::Array(inner) if was_text => inner,
        other => vec![other],
    });
    spliced.collect()
}

/// A value with the chosen ones filled in, and those in them. Names that were not chosen stay.
fn fill(value: &Value, chosen: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => fill_text(text, chosen),
        Value::Array(list) => Value::Array(splice(list, chosen)),
        Value::Object(fields) => {
            let filled = fields.iter().map(|(key, value)| match fill_text(key, chosen) {
                Value::String(key) => (key, fill(value, chosen)),
                other => panic!("{other} is no key"),
            });
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

fn fill_text(text: &str, chosen: &Map<String, Value>) -> Value {
    let whole =
        text.strip_prefix("{{").and_then(|t| t.strip_suffix("}}")).and_then(|name| look_up(name, chosen));
    if let Some(value) = whole {
        return fill(value, chosen);
    }
    let known = |name: &str| match look_up(name, chosen) {
        Some(Value::String(found)) => match fill_text(found, chosen) {
            Value::String(found) => Some(found),
            other => panic!("{other} is no text"),
        },
        Some(other) => panic!("{other} is no text, and stands within one"),
        None => None,
    };
    Value::String(replace(text, known))
}

fn look_up<'v>(name: &str, chosen: &'v Map<String, Value>) -> Option<&'v Value> {
    match name.split_once('.') {
        Some((first, rest)) => chosen.get(first)?.get(rest),
        None => chosen.get(name),
    }
}

/// Replaces every `{{name}}` that `known` knows.
pub fn replace(text: &str, known: impl Fn(&str) -> Option<String>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("{{") {
        let Some(end) = rest[at..].find("}}") else { break };
        let name = &rest[at + 2..at + end];
        out.push_str(&rest[..at]);
        match known(name) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[at..at + end + 2]),
        }
        rest = &rest[at + end + 2..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_template_becomes_one_case_for_every_combination() {
        let template: Template = serde_json::from_value(json!({
            "id": "t", "why": "because", "expect": "gap", "never": ["{{what.text}}"],
            "each": {
                "how": { "a": [{ "ask": { "text": "{{what.text}} {{later}}" } }], "b": [{ "x": 1 }, { "y": 2 }] },
                "what": { "p": { "text": "P" }, "q": { "text": "Q" } },
            },
            "steps": ["{{how}}", "wait"],
        }))
        .expect("a template");
        let cases = template.expand();
        let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["t/a/p", "t/a/q", "t/b/p", "t/b/q"]);
        assert_eq!(cases[1].steps, [json!({ "ask": { "text": "Q {{later}}" } }), json!("wait")]);
        assert_eq!(cases[1].never, ["Q"]);
        assert_eq!(cases[2].steps, [json!({ "x": 1 }), json!({ "y": 2 }), json!("wait")]);
    }
}
