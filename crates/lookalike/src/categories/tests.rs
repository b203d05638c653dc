//! Tests of models as a whole.

use super::function_words::LanguageSample;
use super::*;
use lookalike_core::hash::token_hash;

/// Documents of two topics. In the first topic, some documents differ in one or two words, and some
/// share half of their words.
pub(super) fn sample() -> CategorySample {
    let mut sample = CategorySample::default();
    (0..).zip(texts()).for_each(|(rank, text)| sample.add(rank, &text));
    sample
}

fn texts() -> Vec<String> {
    let cats = "cat kitten purrs whiskers mouse paw fur sleeps sofa milk";
    let ships = "ship harbour sails anchor captain voyage mast storm island rope";
    let pick = |words: &str, skip: usize| {
        let chosen = words.split(' ').enumerate().filter(|(at, _)| (at + skip) % 10 < 5);
        chosen.map(|(_, word)| word.to_owned()).collect::<Vec<_>>().join(" ")
    };
    let mut texts = Vec::new();
    for n in 0..10 {
        texts.push(format!("{} the a{n} b{n} c{n} d{n} e{n} f{n}", pick(cats, n)));
        texts.push(format!("{} the g{n} h{n} i{n} j{n} k{n} l{n}", pick(ships, n)));
    }
    for n in 0..4 {
        texts.push(format!("{ships} and the long way home for the crew {n}"));
    }
    for n in 0..4 {
        texts.push(format!("{ships} and the long way out m{n} n{n} o{n}"));
    }
    texts
}

#[test]
fn model_builds_topics_with_subcategories() {
    let model = sample().model(2);
    let mut buffers = CategoryBuffers::default();
    let texts = texts();
    let mut path = |text: &str| {
        let number = model.category(text, &mut buffers);
        model.get(number).map_or("", |category| category.path.as_str())
    };
    let (ship, cat) = (path(&texts[1]), path(&texts[0]));
    assert_eq!((ship, cat), ("1", "2"));
    for (place, text) in texts[..20].iter().enumerate() {
        assert_eq!(path(text), if place % 2 == 0 { "2" } else { "1" }, "{place}");
    }
    // Eight documents with most words in common. Four of them are nearly equal.
    assert!(texts[20..24].iter().all(|text| path(text) == "1.1.1"));
    assert!(texts[24..].iter().all(|text| path(text) == "1.1"));
    let levels = model
        .categories()
        .iter()
        .map(|category| (category.path.as_str(), category.level, category.last));
    let expected = [
        ("1", CategoryLevel::Topic, 3),
        ("1.1", CategoryLevel::Related, 3),
        ("1.1.1", CategoryLevel::Alike, 3),
        ("2", CategoryLevel::Topic, 4),
    ];
    assert_eq!(levels.collect::<Vec<_>>(), expected);
}

#[test]
fn labels_are_words_of_the_topic() {
    let model = sample().model(2);
    let label = |path| model.get(model.find(path).unwrap()).unwrap().label.clone();
    let has = |path, word: &str| label(path).iter().any(|other| other == word);
    assert!(["ship", "harbour", "sails"].iter().any(|word| has("1", word)), "{:?}", label("1"));
    assert!(["cat", "kitten", "purrs"].iter().any(|word| has("2", word)), "{:?}", label("2"));
    assert!(has("1.1", "crew") || has("1.1.1", "crew"), "{:?}", label("1.1"));
    assert!(!label("1.1.1").is_empty());
    assert!(!label("1.1").is_empty() && label("1.1").iter().all(|word| !has("1", word)));
    assert!(label("1.1.1").iter().all(|word| !has("1", word) && !has("1.1", word)));
}

/// Documents of everyday words, most of which are function words.
#[test]
fn model_labels_exclude_function_words() {
    let mut sample = CategorySample::default();
    let sentences =
        ["that would but not have been there", "they would not have been but that", "42 17"];
    for n in 0..60 {
        let subject = ["ship", "bank", "court", "river"][n as usize % 4];
        sample.add(n, &format!("{} the {subject}", sentences[n as usize % 3]));
    }
    let model = sample.model(6);
    assert!(!model.categories().is_empty());
    let function_words = LanguageSample::default().function_words();
    for category in model.categories() {
        let label = &category.label;
        assert!(!label.is_empty(), "{}", category.path);
        assert!(
            label.iter().all(|word| !function_words.contains(&token_hash(word.as_bytes()))),
            "{label:?}"
        );
    }
}

#[test]
fn category_depends_on_text_alone() {
    let model = sample().model(2);
    let mut buffers = CategoryBuffers::default();
    let text = "a captain, his ship and an anchor in the harbour";
    let number = model.category(text, &mut buffers);
    assert_eq!(model.get(number).unwrap().path, "1");
    for other in texts() {
        model.category(&other, &mut buffers);
    }
    assert_eq!(model.category(text, &mut buffers), number);
    assert_eq!(model.category("", &mut buffers), NO_CATEGORY);
    assert_eq!(model.category("zzz unheard", &mut buffers), NO_CATEGORY);
}

#[test]
fn small_models_assign_no_category() {
    let empty = CategorySample::default().model(5);
    assert!(empty.categories().is_empty());
    let mut buffers = CategoryBuffers::default();
    assert_eq!(empty.category("one two", &mut buffers), NO_CATEGORY);
    let mut sample = CategorySample::default();
    sample.add(0, "");
    sample.add(1, "one two three");
    let model = sample.model(5);
    assert_eq!(model.category("one two three", &mut buffers), NO_CATEGORY);
    assert_eq!(CategoryModel::decode(&model.encode()).unwrap().categories(), model.categories());
}

#[test]
fn model_ignores_document_order() {
    let mut reversed = CategorySample::default();
    let texts = texts();
    let ranked = (0..).zip(&texts).collect::<Vec<(u64, &String)>>();
    ranked.iter().rev().for_each(|(rank, text)| reversed.add(*rank, text));
    assert_eq!(reversed.model(2).encode(), sample().model(2).encode());
}
