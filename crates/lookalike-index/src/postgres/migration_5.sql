-- Originals and versions; docs/reference/postgres.md. Both are empty where the index keeps none.
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
