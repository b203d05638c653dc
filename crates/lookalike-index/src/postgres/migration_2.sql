-- Checksums of a row, 5 x 8 bytes; docs/reference/postgres.md. NULL: written by version 1.
ALTER TABLE docs ADD COLUMN checksums bytea;
ALTER TABLE docs ALTER checksums SET STORAGE PLAIN;
