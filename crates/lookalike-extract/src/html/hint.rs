//! What roles, names of classes and styles say about a part of a page.

/// What a role says (WAI-ARIA landmarks).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Main,
    Article,
    /// Navigation, banners and the like.
    Around,
    None,
}

/// By the value of the attribute `role`. Some roles are around the main text outside of it only.
pub(super) fn role(value: &[u8], in_main: bool) -> Role {
    let first = value.split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
    let mut lower = [0; 16];
    match lowered(first.unwrap_or_default(), &mut lower) {
        b"main" => Role::Main,
        b"article" => Role::Article,
        b"navigation" | b"search" | b"menu" | b"menubar" | b"toolbar" | b"dialog"
        | b"alertdialog" => Role::Around,
        b"banner" | b"contentinfo" | b"complementary" if !in_main => Role::Around,
        _ => Role::None,
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

/// What the names of a part of a page (`id`, `class`) sound like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sound {
    None,
    /// What is around the main text.
    Around,
    Main,
    /// A table of contents, whose links are text.
    Contents,
}

/// What names, separated by blanks, sound like. The first or the last word of a name counts:
/// `site-footer`, `menu_left`. Names such as `has-sidebar` are those of the whole.
pub(super) fn sound(value: &[u8], in_main: bool) -> Sound {
    let mut names = value.split(u8::is_ascii_whitespace);
    names.find_map(|name| sound_of(name, in_main)).unwrap_or(Sound::None)
}

fn sound_of(name: &[u8], in_main: bool) -> Option<Sound> {
    let mut lower = [0; 16];
    if let b"main" | b"content" | b"contents" | b"maincontent" | b"main-content" | b"main_content"
    | b"page-content" | b"post-content" | b"entry-content" | b"article-content"
    | b"article-body" | b"post-body" | b"articlebody" | b"bodycontent" | b"mw-content-text" =
        lowered(name, &mut lower)
    {
        return Some(Sound::Main);
    }
    let mut words =
        name.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next()?;
    let last = words.next_back();
    match lowered(first, &mut lower) {
        b"has" | b"with" | b"no" | b"not" | b"without" | b"is" => return None,
        b"toc" => return Some(Sound::Contents),
        word if is_around(word, in_main) => return Some(Sound::Around),
        _ => {}
    }
    let last = last.is_some_and(|last| is_around(lowered(last, &mut lower), in_main));
    last.then_some(Sound::Around)
}

/// Words of what is around the main text. Some mean that outside of it only: an article has a
/// header, too.
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

/// A short word in lower case; nothing where it is longer than all that are known.
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
            assert_eq!(sound(name.as_bytes(), false), Sound::Around, "{name}");
        }
        for name in ["", "-", "has-sidebar", "no-menu", "contented", "menuette", "a-menu-item"] {
            assert_eq!(sound(name.as_bytes(), false), Sound::None, "{name}");
        }
        assert_eq!(sound(b"header", false), Sound::Around);
        assert_eq!(sound(b"header", true), Sound::None);
        assert_eq!(sound(b"nav", true), Sound::Around);
        assert_eq!(sound(b"x  Main-Content", false), Sound::Main);
        assert_eq!(sound(b"toc-list", false), Sound::Contents);
    }

    #[test]
    fn roles() {
        assert_eq!(role(b"MAIN", false), Role::Main);
        assert_eq!(role(b" navigation menu", true), Role::Around);
        assert_eq!(role(b"presentation", false), Role::None);
        assert_eq!(role(b"banner", false), Role::Around);
        assert_eq!(role(b"banner", true), Role::None);
        assert_eq!(role(b"", false), Role::None);
        assert_eq!(role(&[b'x'; 100], false), Role::None);
    }

    #[test]
    fn styles_that_hide() {
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
