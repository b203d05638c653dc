-- What people decided about documents; docs/reference/decisions.md. Entries are only added.
CREATE TABLE decisions (
    number bigint PRIMARY KEY,
    json text NOT NULL,
    checksum bigint NOT NULL
);
