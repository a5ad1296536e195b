use super::*;
use crate::gaps::testing::{fingerprint, gap, rewordings};

fn by_question(records: &[Record], joins: &[(Place, String, String)]) -> HashMap<(Place, String), String> {
    let mut of: HashMap<(Place, String), String> =
        records.iter().filter_map(|r| Some(((r.place, r.key.clone()), r.cluster.clone()?))).collect();
    of.extend(joins.iter().map(|(place, key, id)| ((*place, key.clone()), id.clone())));
    of
}

/// Pairwise precision and recall of `of` against the topics.
fn pairwise(topics: &[&str], ids: &[&String]) -> (f32, f32) {
    let (mut right, mut joined, mut same) = (0, 0, 0);
    for a in 0..topics.len() {
        for b in a + 1..topics.len() {
            let (topic, id) = (topics[a] == topics[b], ids[a] == ids[b]);
            right += u32::from(topic && id);
            joined += u32::from(id);
            same += u32::from(topic);
        }
    }
    (right as f32 / joined.max(1) as f32, right as f32 / same.max(1) as f32)
}

#[test]
fn the_same_question_in_other_words_is_one_entry() {
    let (topics, records) = rewordings();
    assert!(records.len() >= 60);
    let of = by_question(&records, &join(&records, &Hand::default()));
    let ids: Vec<&String> = records.iter().map(|r| &of[&(r.place, r.key.clone())]).collect();
    let (precision, recall) = pairwise(&topics.iter().map(String::as_str).collect::<Vec<_>>(), &ids);
    println!("{} rewordings: pairwise precision {precision:.3}, recall {recall:.3}", records.len());
    assert!(precision >= 0.9, "precision {precision}");
    assert!(recall >= 0.8, "recall {recall}");
}

#[test]
fn the_order_in_which_questions_are_read_does_not_matter() {
    let (_, records) = rewordings();
    let forward = by_question(&records, &join(&records, &Hand::default()));
    for turn in [1, 7, 23] {
        let mut turned = records.clone();
        turned.rotate_left(turn);
        turned.reverse();
        assert_eq!(by_question(&turned, &join(&turned, &Hand::default())), forward);
    }
}

#[test]
fn what_arrives_later_never_moves_what_is_there() {
    let (_, all) = rewordings();
    let mut known: Vec<Record> = Vec::new();
    let mut before: HashMap<(Place, String), String> = HashMap::new();
    // Arrival in an order that is not the order of asking: a sweep finds an old issue late.
    for record in all.iter().step_by(2).chain(all.iter().skip(1).step_by(2)) {
        known.push(record.clone());
        let joins = join(&known, &Hand::default());
        assert_eq!(joins.len(), 1);
        let of = by_question(&known, &joins);
        for (question, id) in &before {
            assert_eq!(&of[question], id);
        }
        for (place, key, id) in joins {
            let record = known.iter_mut().find(|r| r.place == place && r.key == key).unwrap();
            record.cluster = Some(id);
        }
        before = of;
    }
    assert!(join(&known, &Hand::default()).is_empty());
}

#[test]
fn a_shared_nearest_section_is_a_witness() {
    let mut a = gap(1, 1, 10, fingerprint("SMTP relay", "Mails stay in the queue of the relay host."));
    let mut b = gap(1, 2, 11, fingerprint("Relay for mails", "Where is the SMTP host configured?"));
    let lexicon_says = |a: &Record, b: &Record| {
        let joins = join(&[a.clone(), b.clone()], &Hand::default());
        joins[0].2 == joins[1].2
    };
    let near = Near { project: 1, path: "docs/mail.md".into(), anchor: Some("smtp".into()), score: 400 };
    a.near = Some(near.clone());
    b.near = Some(near);
    let with = lexicon_says(&a, &b);
    b.near = None;
    let without = lexicon_says(&a, &b);
    assert!(with >= without);
    // Two questions without a common word are not joined by a page alone.
    let mut c = gap(1, 3, 12, fingerprint("Dark theme", "Colours hurt at night."));
    c.near = a.near.clone();
    assert!(!lexicon_says(&a, &c));
}

#[test]
fn hands_are_stronger_than_words() {
    let print = fingerprint("How long do tokens live?", "Token expiry");
    let mut records = vec![gap(1, 1, 10, print.clone()), gap(1, 2, 11, print.clone()), gap(1, 3, 12, print)];
    let joins = join(&records, &Hand::default());
    let id = joins[0].2.clone();
    assert!(joins.iter().all(|j| j.2 == id));
    for record in &mut records {
        record.cluster = Some(id.clone());
    }
    let apart = found(&records[2], &HashSet::from([id.clone()]));
    let hand = Hand {
        members: vec![(records[2].place, "issue".into(), apart.clone())],
        merges: vec![("old".into(), id.clone())],
        ..Hand::default()
    };
    let names = Names::of(&hand);
    assert_eq!(names.cluster(&records[0]), Some(id.clone()));
    assert_eq!(names.cluster(&records[2]), Some(apart));
    records[1].cluster = Some("old".into());
    assert_eq!(names.cluster(&records[1]), Some(id));
}

#[test]
fn a_circle_of_merges_ends() {
    let hand = Hand { merges: vec![("a".into(), "b".into()), ("b".into(), "a".into())], ..Hand::default() };
    assert_eq!(Names::of(&hand).root("a"), "a");
}

#[test]
fn a_question_without_a_fingerprint_stands_alone() {
    let records = [gap(1, 1, 10, Vec::new()), gap(1, 2, 11, Vec::new())];
    let joins = join(&records, &Hand::default());
    assert_ne!(joins[0].2, joins[1].2);
    assert!(joins.iter().all(|j| j.2.len() == 8));
}

#[test]
fn two_thousand_questions_are_joined_in_a_blink() {
    let (_, records) = rewordings();
    let many: Vec<Record> = (0..2000)
        .map(|n| {
            let mut record = records[n % records.len()].clone();
            record.place.iid = n as u64 + 1;
            record
        })
        .collect();
    let began = std::time::Instant::now();
    let joins = join(&many, &Hand::default());
    println!("2,000 questions joined in {:?}", began.elapsed());
    assert_eq!(joins.len(), 2000);
}
