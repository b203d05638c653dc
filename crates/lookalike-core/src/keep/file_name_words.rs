//! Words that describe a version in a file name, by language.

/// The meaning of a word in a file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordMeaning {
    /// The final version.
    Final,
    /// A copy.
    Copy,
    /// A draft.
    Draft,
    /// An old version or a backup.
    Old,
    /// The following number is a version.
    Version,
}

/// The words of a language, separated by a comma and a space. A word with spaces matches
/// consecutive words of a name.
#[derive(Debug, Clone, Copy)]
pub struct LanguageWords {
    /// English name of the language.
    pub language: &'static str,
    /// Words for final versions.
    pub finals: &'static str,
    /// Words for copies.
    pub copies: &'static str,
    /// Words for drafts.
    pub drafts: &'static str,
    /// Words for old versions and backups.
    pub old: &'static str,
    /// Words before a version number. After a single letter, the number follows directly or after a
    /// dot.
    pub versions: &'static str,
}

impl LanguageWords {
    /// The lists with their meanings.
    pub fn lists(&self) -> [(WordMeaning, &'static str); 5] {
        [
            (WordMeaning::Final, self.finals),
            (WordMeaning::Copy, self.copies),
            (WordMeaning::Draft, self.drafts),
            (WordMeaning::Old, self.old),
            (WordMeaning::Version, self.versions),
        ]
    }
}

/// All words. Names are compared with the words of every language.
pub const FILE_NAME_WORDS: &[LanguageWords] = &[
    LanguageWords {
        language: "English",
        finals: "final, definitive, signed",
        copies: "copy",
        drafts: "draft, preliminary, provisional, wip, work in progress, not final, nonfinal, \
                 prefinal, pre final",
        old: "old, older, previous, obsolete, outdated, superseded, archived, backup, backup copy, \
              bak, tmp",
        versions: "v, ver, version, r, rev, revision",
    },
    LanguageWords {
        language: "German",
        finals: "endgültig, endgültige, endfassung, endversion, schlussfassung, reinschrift, \
                 unterschrieben, signiert",
        copies: "kopie",
        drafts: "entwurf, vorläufig, vorläufige, arbeitsfassung, arbeitsversion, rohfassung, \
                 vorabversion, nicht final",
        old: "alt, alte, altes, veraltet, sicherung, sicherungskopie",
        versions: "fassung",
    },
    LanguageWords {
        language: "French",
        finals: "définitif, définitive, version finale, signé, signée",
        copies: "copie",
        drafts: "brouillon, ébauche, provisoire, document de travail",
        old: "ancien, ancienne, vieux, vieille, obsolète, périmé, sauvegarde, copie de sauvegarde",
        versions: "révision",
    },
    LanguageWords {
        language: "Spanish",
        finals: "definitivo, definitiva, firmado, firmada",
        copies: "copia",
        drafts: "borrador, preliminar",
        old: "viejo, vieja, antiguo, antigua, anterior, obsoleto, obsoleta, respaldo, \
              copia de seguridad",
        versions: "versión, revisión",
    },
    LanguageWords {
        language: "Italian",
        finals: "definitivo, definitiva, versione finale, firmato, firmata",
        copies: "copia",
        drafts: "bozza, provvisorio, provvisoria",
        old: "vecchio, vecchia, precedente, obsoleto, superato, superata, copia di sicurezza",
        versions: "versione, revisione",
    },
    LanguageWords {
        language: "Portuguese",
        finals: "definitivo, definitiva, assinado, assinada",
        copies: "cópia",
        drafts: "rascunho, esboço, provisório, provisória",
        old: "velho, velha, antigo, antiga, obsoleto, cópia de segurança",
        versions: "versão, revisão",
    },
    LanguageWords {
        language: "Dutch",
        finals: "definitief, definitieve, eindversie, ondertekend, getekend",
        copies: "kopie",
        drafts: "concept, ontwerp, klad, voorlopig, voorlopige",
        old: "oud, oude, verouderd, vorige, reservekopie",
        versions: "versie",
    },
    LanguageWords {
        language: "Polish",
        finals: "ostateczny, ostateczna, ostateczne, finalny, finalna, wersja końcowa, podpisany, \
                 podpisana, podpisane",
        copies: "kopia",
        drafts: "szkic, roboczy, robocza, robocze, brudnopis",
        old: "stary, stara, stare, poprzedni, poprzednia, nieaktualny, nieaktualna, kopia zapasowa",
        versions: "wersja",
    },
    LanguageWords {
        language: "Czech",
        finals: "finální, konečný, konečná, konečné, podepsaný, podepsaná",
        copies: "kopie",
        drafts: "návrh, koncept, rozpracovaný, rozpracovaná",
        old: "starý, stará, staré, předchozí, záloha",
        versions: "verze",
    },
    LanguageWords {
        language: "Swedish, Danish, Norwegian",
        finals: "slutlig, slutgiltig, slutversion, endelig, undertecknad, underskrevet",
        copies: "kopia, kopi",
        drafts: "utkast, udkast, kladde",
        old: "gammal, gammalt, gamla, gammel, gammelt, föregående, säkerhetskopia",
        versions: "versjon, utgåva",
    },
    LanguageWords {
        language: "Russian",
        finals: "финал, финальный, финальная, окончательный, окончательная, итоговый, итоговая, \
                 чистовик, подписано, подписанный",
        copies: "копия",
        drafts: "черновик, предварительный, предварительная",
        old: "старый, старая, старое, предыдущий, предыдущая, устаревший, резервная копия",
        versions: "версия, редакция",
    },
    LanguageWords {
        language: "Ukrainian",
        finals: "остаточний, остаточна, фінальний, фінальна",
        copies: "копія",
        drafts: "чернетка, попередній",
        old: "старий, стара, резервна копія",
        versions: "версія",
    },
    LanguageWords {
        language: "Chinese",
        finals: "最终版, 最終版, 最终, 最終, 定稿, 终稿, 終稿, 完成版, 已签, 已簽",
        copies: "副本, 复制, 複製, 拷贝, 拷貝",
        drafts: "草稿, 初稿, 草案, 未定稿",
        old: "旧, 舊, 旧版, 舊版, 备份, 備份, 作废, 作廢",
        versions: "版本",
    },
    LanguageWords {
        language: "Japanese",
        finals: "最終版, 最終, 決定版, 確定版, 確定, 完成版, 署名済み",
        copies: "コピー, 複製, 写し",
        drafts: "下書き, ドラフト, 草案, 草稿, 素案, たたき台, 作成中",
        old: "旧, 旧版, 古い, バックアップ",
        versions: "バージョン",
    },
    LanguageWords {
        language: "Korean",
        finals: "최종, 최종본, 최종판",
        copies: "사본, 복사본",
        drafts: "초안",
        old: "이전, 구버전, 백업",
        versions: "버전",
    },
];
