-- What docs/reference/postgres.md describes. Names without a schema: the search path has only that of the index.

CREATE TABLE migrations (
    number integer PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE settings (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
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

-- An id may be longer than an entry of a B-tree. A hash index takes any, and compares the ids.
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
    CONSTRAINT docs_id EXCLUDE USING hash (id WITH =)
);
-- Neither signatures nor sets can be compressed, and texts are already.
ALTER TABLE docs
    ALTER sig SET STORAGE EXTERNAL,
    ALTER set SET STORAGE EXTERNAL,
    ALTER text SET STORAGE EXTERNAL;
CREATE INDEX docs_expires ON docs (expires) WHERE expires IS NOT NULL;

CREATE TABLE bands (
    key bigint NOT NULL,
    doc bigint NOT NULL,
    band smallint NOT NULL
);
CREATE INDEX bands_key ON bands (key, doc);

INSERT INTO state DEFAULT VALUES;
