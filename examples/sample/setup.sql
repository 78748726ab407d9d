-- The tables of the sample and the rows they hold before the recorded part of the log begins.
-- Every replica identity and every class of key that the library knows is here at least once.

-- A TPC-B-like mix. "history" has no key at all: only inserts can be applied to it.
CREATE TABLE branches (bid int PRIMARY KEY, bbalance bigint NOT NULL DEFAULT 0);
CREATE TABLE tellers (tid int PRIMARY KEY, bid int NOT NULL REFERENCES branches, tbalance bigint NOT NULL DEFAULT 0);
CREATE TABLE accounts (aid int PRIMARY KEY, bid int NOT NULL, abalance bigint NOT NULL DEFAULT 0, filler char(20));
CREATE TABLE history (tid int, bid int, aid int, delta int, note text);

-- Orders: foreign keys, one of them cascading key changes, one of them from int to bigint.
CREATE TABLE customers (id int PRIMARY KEY, email text UNIQUE, name text NOT NULL);
CREATE TABLE products (sku text PRIMARY KEY, price numeric(10, 2) NOT NULL, stock int NOT NULL);
CREATE TABLE orders (
  id bigint PRIMARY KEY,
  customer_id int NOT NULL REFERENCES customers ON UPDATE CASCADE ON DELETE CASCADE,
  status text NOT NULL, placed timestamp NOT NULL);
CREATE TABLE order_lines (
  order_id bigint REFERENCES orders ON DELETE CASCADE, line_no smallint,
  sku text NOT NULL REFERENCES products, qty int NOT NULL, PRIMARY KEY (order_id, line_no));
CREATE TABLE order_notes (
  id int PRIMARY KEY, order_id int REFERENCES orders ON DELETE SET NULL, note text);

-- A unique value that wanders from row to row.
CREATE TABLE mailboxes (id int PRIMARY KEY, email text UNIQUE, version int NOT NULL DEFAULT 0);

-- Keys of other types.
CREATE TABLE devices (id uuid PRIMARY KEY, label text, beats bigint NOT NULL DEFAULT 0);
CREATE TABLE switches (room bigint, is_on boolean, note text, PRIMARY KEY (room, is_on));
CREATE TABLE rates (amount numeric PRIMARY KEY, uses int NOT NULL DEFAULT 0);
CREATE TABLE ticks (at timestamp PRIMARY KEY, value double precision);
CREATE TABLE tags (name varchar(30) PRIMARY KEY, uses int NOT NULL DEFAULT 0);

-- Replica identities other than the primary key.
CREATE TABLE audit_full (who text, what text, n int);
ALTER TABLE audit_full REPLICA IDENTITY FULL;
CREATE TABLE ledger_full (id int PRIMARY KEY, owner text UNIQUE, amount numeric(12, 2));
ALTER TABLE ledger_full REPLICA IDENTITY FULL;
CREATE TABLE parcels (id int PRIMARY KEY, code text NOT NULL, weight int);
CREATE UNIQUE INDEX parcels_code ON parcels (code);
ALTER TABLE parcels REPLICA IDENTITY USING INDEX parcels_code;
CREATE TABLE silent (id int PRIMARY KEY, v text);
ALTER TABLE silent REPLICA IDENTITY NOTHING;

-- One row that everybody wants, upserts, values stored out of line, bulk loads, partitions, a column that is gone.
CREATE TABLE hot (id int PRIMARY KEY, n bigint NOT NULL);
CREATE TABLE counters (name text PRIMARY KEY, n int NOT NULL);
CREATE TABLE documents (id int PRIMARY KEY, title text, body text);
ALTER TABLE documents ALTER body SET STORAGE EXTERNAL;
CREATE TABLE batch_log (id int PRIMARY KEY, gone int, payload text);
ALTER TABLE batch_log DROP COLUMN gone;
CREATE TABLE metrics (day int, sensor int, value int, PRIMARY KEY (day, sensor)) PARTITION BY RANGE (day);
CREATE TABLE metrics_low PARTITION OF metrics FOR VALUES FROM (0) TO (50);
CREATE TABLE metrics_high PARTITION OF metrics FOR VALUES FROM (50) TO (100);

INSERT INTO branches SELECT i FROM generate_series(1, 6) i;
INSERT INTO tellers SELECT i, 1 + i % 6 FROM generate_series(1, 60) i;
INSERT INTO accounts SELECT i, 1 + i % 6, 0, '' FROM generate_series(1, 600) i;
INSERT INTO customers SELECT i, 'customer' || i || '@example.org', 'Customer ' || i FROM generate_series(1, 60) i;
INSERT INTO products SELECT 'sku-' || i, 1.25 * i, 100 FROM generate_series(1, 40) i;
INSERT INTO mailboxes SELECT i, CASE WHEN i <= 10 THEN 'box' || i || '@example.org' END FROM generate_series(1, 30) i;
INSERT INTO devices SELECT md5(i::text)::uuid, 'device ' || i FROM generate_series(1, 40) i;
INSERT INTO rates VALUES (1), (1.5), (2.25), (100), (0.001);
INSERT INTO audit_full SELECT 'user' || i % 5, 'start', i % 3 FROM generate_series(1, 20) i;
INSERT INTO ledger_full SELECT i, 'owner' || i, i FROM generate_series(1, 30) i;
INSERT INTO parcels SELECT i, 'P' || i, i FROM generate_series(1, 30) i;
INSERT INTO silent SELECT i, 'old' FROM generate_series(1, 10) i;
INSERT INTO hot VALUES (1, 0);
