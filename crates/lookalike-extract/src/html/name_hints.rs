//! Hints about a region of a page from its role, class names, id and style.

/// The meaning of a role (WAI-ARIA landmarks).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AriaRole {
    Main,
    Article,
    /// Navigation, banners and the like.
    Around,
    #[default]
    None,
}

/// The meaning of an attribute `role`. Some roles are boilerplate only outside the main text.
pub(super) fn role(value: &[u8], in_main: bool) -> AriaRole {
    let first = value.split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
    let mut lower = [0; 16];
    match lowered(first.unwrap_or_default(), &mut lower) {
        b"main" => AriaRole::Main,
        b"article" => AriaRole::Article,
        b"navigation" | b"search" | b"menu" | b"menubar" | b"toolbar" | b"dialog"
        | b"alertdialog" => AriaRole::Around,
        b"banner" | b"contentinfo" | b"complementary" if !in_main => AriaRole::Around,
        _ => AriaRole::None,
    }
}

/// Whether the attribute `style` hides an element.
pub(super) fn hides(style: &[u8]) -> bool {
    let mut lower = [0; 256];
    let mut length = 0;
    for byte in style.iter().filter(|byte| !byte.is_ascii_whitespace()).take(lower.len()) {
        lower[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    let is = |declaration: &[u8]| {
        [&b"display:none"[..], b"visibility:hidden"].iter().any(|hidden| {
            declaration.strip_prefix(*hidden).is_some_and(|rest| rest.is_empty() || rest[0] == b'!')
        })
    };
    lower[..length].split(|byte| *byte == b';').any(is)
}

/// The role that the names of an element (`id`, `class`) suggest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum NameHint {
    #[default]
    None,
    /// Boilerplate around the main text.
    Around,
    Main,
    /// A table of contents, whose links are text.
    Contents,
}

/// The hint from names separated by blanks. Boilerplate is recognised by the first or the last word
/// of a name: `site-footer`, `menu_left`. The main text is recognised by a whole name, such as
/// `main-content`. Names such as `has-sidebar` describe the enclosing element.
pub(super) fn name_hint(value: &[u8], in_main: bool) -> NameHint {
    let mut names = value.split(u8::is_ascii_whitespace);
    names.find_map(|name| word_hint(name, in_main)).unwrap_or(NameHint::None)
}

fn word_hint(name: &[u8], in_main: bool) -> Option<NameHint> {
    let mut lower = [0; 16];
    if let b"main" | b"content" | b"contents" | b"maincontent" | b"main-content" | b"main_content"
    | b"page-content" | b"post-content" | b"entry-content" | b"article-content"
    | b"article-body" | b"post-body" | b"articlebody" | b"bodycontent" | b"mw-content-text" =
        lowered(name, &mut lower)
    {
        return Some(NameHint::Main);
    }
    let mut words =
        name.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next()?;
    let last = words.next_back();
    match lowered(first, &mut lower) {
        b"has" | b"with" | b"no" | b"not" | b"without" | b"is" => return None,
        b"toc" => return Some(NameHint::Contents),
        word if is_around(word, in_main) => return Some(NameHint::Around),
        _ => {}
    }
    let last = last.is_some_and(|last| is_around(lowered(last, &mut lower), in_main));
    last.then_some(NameHint::Around)
}

/// Whether a word suggests boilerplate. Some words do so only outside the main text, because an
/// article also has a header.
fn is_around(word: &[u8], in_main: bool) -> bool {
    match word {
        b"nav" | b"navbar" | b"navigation" | b"navheader" | b"navfooter" | b"navlinks"
        | b"subnav" | b"topnav" | b"sidenav" | b"mainnav" | b"menu" | b"menubar" | b"submenu"
        | b"mainmenu" | b"breadcrumb" | b"breadcrumbs" | b"pagination" | b"paginator"
        | b"pager" | b"sidebar" | b"sphinxsidebar" | b"cookie" | b"cookies" | b"cookiebar"
        | b"gdpr" | b"consent" | b"masthead" | b"skiplink" | b"skiplinks" | b"share"
        | b"sharing" | b"social" | b"newsletter" | b"advert" | b"advertisement" | b"adsense" => {
            true
        }
        b"header" | b"footer" | b"topbar" | b"bottombar" | b"toolbar" | b"banner"
        | b"copyright" | b"colophon" | b"login" | b"search" | b"related" | b"siteheader"
        | b"sitefooter" | b"pageheader" | b"pagefooter" => !in_main,
        _ => false,
    }
}

/// A word in lower case; empty if it is longer than all known words.
fn lowered<'a>(word: &[u8], room: &'a mut [u8; 16]) -> &'a [u8] {
    let Some(lower) = room.get_mut(..word.len()) else { return &[] };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sound() {
        for name in ["navheader", "a site-footer", "menu_left", "Sidebar", "cookie-consent-box"] {
            assert_eq!(name_hint(name.as_bytes(), false), NameHint::Around, "{name}");
        }
        for name in ["", "-", "has-sidebar", "no-menu", "contented", "menuette", "a-menu-item"] {
            assert_eq!(name_hint(name.as_bytes(), false), NameHint::None, "{name}");
        }
        assert_eq!(name_hint(b"header", false), NameHint::Around);
        assert_eq!(name_hint(b"header", true), NameHint::None);
        assert_eq!(name_hint(b"nav", true), NameHint::Around);
        assert_eq!(name_hint(b"x  Main-Content", false), NameHint::Main);
        assert_eq!(name_hint(b"toc-list", false), NameHint::Contents);
    }

    #[test]
    fn roles() {
        assert_eq!(role(b"MAIN", false), AriaRole::Main);
        assert_eq!(role(b" navigation menu", true), AriaRole::Around);
        assert_eq!(role(b"presentation", false), AriaRole::None);
        assert_eq!(role(b"banner", false), AriaRole::Around);
        assert_eq!(role(b"banner", true), AriaRole::None);
        assert_eq!(role(b"", false), AriaRole::None);
        assert_eq!(role(&[b'x'; 100], false), AriaRole::None);
    }

    #[test]
    fn hiding_styles_are_recognised() {
        for style in ["display:none", "color: red; Display : NONE !important", "visibility:hidden;"]
        {
            assert!(hides(style.as_bytes()), "{style}");
        }
        for style in ["", "display:block", "x-display:none", "display:nonesuch", "overflow:hidden"]
        {
            assert!(!hides(style.as_bytes()), "{style}");
        }
    }
}
