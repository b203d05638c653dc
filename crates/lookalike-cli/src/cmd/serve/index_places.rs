//! The served indexes: the only index, or the names and places in the setting `index`.

use super::config_sources::ConfigSources;
use crate::cmd::CommandError;
use lookalike_server::IndexName;

/// Returns the names and places of the indexes, in their order. An index of the command line has no
/// name.
///
/// # Errors
/// No index is named, an entry is not a valid `NAME=PLACE`, or a name or a place occurs twice.
pub(super) fn read(
    only: Option<&str>,
    layers: &ConfigSources,
) -> Result<Vec<(Option<IndexName>, String)>, CommandError> {
    if let Some(only) = only {
        return Ok(vec![(None, only.to_owned())]);
    }
    let named = named(layers)?.into_iter();
    Ok(named.map(|(name, place)| (Some(name), place)).collect())
}

fn named(layers: &ConfigSources) -> Result<Vec<(IndexName, String)>, CommandError> {
    let places = layers.get("index").value;
    let mut all: Vec<(IndexName, String)> = Vec::new();
    for line in places.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, place) = line
            .split_once('=')
            .filter(|(_, place)| !place.is_empty())
            .ok_or_else(|| layers.refuse("index", "NAME=PLACE, such as news=/srv/news"))?;
        let name = IndexName::new(name).map_err(|error| CommandError::Usage(error.to_string()))?;
        if let Some((other, _)) = all.iter().find(|(_, other)| other == place) {
            return Err(CommandError::Usage(format!(
                "the indexes {other} and {name} are at the same place; remove one"
            )));
        }
        if all.iter().any(|(other, _)| *other == name) {
            return Err(CommandError::Usage(format!(
                "two indexes have the name {name}; choose a different name for each"
            )));
        }
        all.push((name, place.to_owned()));
    }
    if all.is_empty() {
        let remedy = "expected an index: `lookalike serve INDEX`, or --index NAME=PLACE for each";
        return Err(CommandError::Usage(remedy.to_owned()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<(String, String)>, String> {
        let flags = vec![("index", text.to_owned())];
        let layers = ConfigSources::collect(flags, std::iter::empty(), None).unwrap();
        let read = named(&layers).map_err(|error| error.to_string())?;
        Ok(read.into_iter().map(|(name, place)| (name.to_string(), place)).collect())
    }

    #[test]
    fn indexes_need_unique_names_and_places() {
        let pair = |name: &str, place: &str| (name.to_owned(), place.to_owned());
        let all = of("news=/srv/a,b\nmail=postgres://u@h/d?x=1").unwrap();
        assert_eq!(all, [pair("news", "/srv/a,b"), pair("mail", "postgres://u@h/d?x=1")]);
        for (wrong, why) in [
            ("", "expected an index"),
            ("news", "--index: expected NAME=PLACE"),
            ("news=", "--index: expected NAME=PLACE"),
            ("a/b=/srv", "the name of an index is \"a/b\""),
            ("a=/srv\na=/mail", "two indexes have the name a"),
            ("a=/srv\nb=/srv", "the indexes a and b are at the same place"),
        ] {
            let message = of(wrong).unwrap_err();
            assert!(message.contains(why), "{wrong}: {message}");
        }
    }
}
