-- Documents that went as duplicates of documents here; docs/reference/postgres.md.
CREATE TABLE duplicates (
    id text COLLATE "C" NOT NULL,
    keeper bigint NOT NULL,
    checksum bigint NOT NULL,
    CONSTRAINT duplicates_id EXCLUDE USING hash (id WITH =)
);
CREATE INDEX duplicates_keeper ON duplicates (keeper);
