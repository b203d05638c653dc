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
