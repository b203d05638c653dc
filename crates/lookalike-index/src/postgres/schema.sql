-- The tables of an index; docs/reference/postgres.md describes them. Names have no schema, since
-- the search path consists of the schema of the index.

-- `version` is the version of these tables.
CREATE TABLE settings (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version integer NOT NULL,
    settings text NOT NULL
);

-- Every writer locks this row first, so writers take turns and what is visible has no gaps.
CREATE TABLE state (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    version bigint NOT NULL DEFAULT 0,
    last bigint NOT NULL DEFAULT 0,
    documents bigint NOT NULL DEFAULT 0,
    without_shingles bigint NOT NULL DEFAULT 0,
    set_bytes bigint NOT NULL DEFAULT 0,
    text_bytes bigint NOT NULL DEFAULT 0
);
INSERT INTO state DEFAULT VALUES;

-- An id may be longer than an entry of a B-tree. A hash index takes any, and compares the ids.
-- `checksums` has 5 x 8 bytes.
CREATE TABLE docs (
    doc bigint PRIMARY KEY,
    bytes bigint NOT NULL,
    added bigint NOT NULL,
    modified bigint,
    expires bigint,
    fingerprint uuid NOT NULL,
    id text COLLATE "C" NOT NULL,
    sig bytea NOT NULL,
    metadata json NOT NULL,
    set bytea,
    text bytea,
    checksums bytea NOT NULL,
    CONSTRAINT docs_id EXCLUDE USING hash (id WITH =)
);
-- Neither signatures nor sets can be compressed, and texts are already.
ALTER TABLE docs
    ALTER sig SET STORAGE EXTERNAL,
    ALTER set SET STORAGE EXTERNAL,
    ALTER text SET STORAGE EXTERNAL,
    ALTER checksums SET STORAGE PLAIN;
CREATE INDEX docs_expires ON docs (expires) WHERE expires IS NOT NULL;

CREATE TABLE bands (
    key bigint NOT NULL,
    doc bigint NOT NULL,
    band smallint NOT NULL
);
CREATE INDEX bands_key ON bands (key, doc);

-- User decisions about documents; docs/reference/decisions.md. Entries are never changed.
CREATE TABLE decisions (
    number bigint PRIMARY KEY,
    json text NOT NULL,
    checksum bigint NOT NULL
);

-- Categories; docs/reference/categories.md. Members are derived from the model and the texts.
CREATE TABLE categories (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    number bigint NOT NULL,
    through bigint NOT NULL,
    checksum bigint NOT NULL,
    model bytea NOT NULL
);
CREATE TABLE category_members (
    doc bigint PRIMARY KEY,
    category bigint NOT NULL
);

-- Originals and versions. Both tables are empty if the index keeps no originals.
CREATE TABLE originals (
    original bigint PRIMARY KEY,
    sha256 bytea NOT NULL,
    bytes bigint NOT NULL,
    base bigint,
    zstd bytea NOT NULL,
    checksum bigint NOT NULL
);
ALTER TABLE originals ALTER zstd SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX originals_sha256 ON originals (sha256);
CREATE INDEX originals_base ON originals (base) WHERE base IS NOT NULL;

-- The text of a version that has ended; before, it is in `docs`.
CREATE TABLE versions (
    doc bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    original bigint NOT NULL,
    added bigint NOT NULL,
    ended bigint,
    modified bigint,
    type text NOT NULL,
    name text NOT NULL,
    checksum bigint NOT NULL,
    text bytea,
    text_checksum bytea
);
ALTER TABLE versions ALTER text SET STORAGE EXTERNAL;
CREATE INDEX versions_id ON versions USING hash (id);
CREATE INDEX versions_original ON versions (original);

-- The ids of documents that were dropped as duplicates, with the documents that were kept.
CREATE TABLE duplicates (
    id text COLLATE "C" NOT NULL,
    keeper bigint NOT NULL,
    checksum bigint NOT NULL,
    CONSTRAINT duplicates_id EXCLUDE USING hash (id WITH =)
);
CREATE INDEX duplicates_keeper ON duplicates (keeper);
