# Writes the SQL of one session of the load. The same session and seed give the same text with every awk.
#   awk -v session=0..7 -v seed=N -v count=TRANSACTIONS -f session.awk
# A statement may fail (a deadlock, a unique violation between sessions): the transaction is then aborted by the server,
# which is as good a part of the log as any other.

function below(n)   { state = (state * 16807) % 2147483647; return state % n }
function pick(a, b) { return a + below(b - a + 1) }
function own()      { return session * 1000000 + ++serial }
function nap()      { if (below(6) == 0) print "SELECT pg_sleep(0.00" pick(1, 6) ");" }
function customer() { return "(SELECT id FROM customers WHERE id >= " pick(1, 50) " ORDER BY id LIMIT 1)" }
function order()    { return "(SELECT id FROM orders ORDER BY abs(id - " (pick(0, 7) * 1000000 + pick(1, serial + 5)) ") LIMIT 1)" }

function tpcb(  a, t, d) {
  a = pick(1, 600); t = pick(1, 60); d = pick(-5000, 5000)
  print "BEGIN;"
  print "UPDATE accounts SET abalance = abalance + " d " WHERE aid = " a ";"
  print "UPDATE tellers SET tbalance = tbalance + " d " WHERE tid = " t ";"
  nap()
  if (below(3) == 0)
    print "UPDATE branches SET bbalance = bbalance + " d " WHERE bid = " (1 + t % 6) ";"
  print "INSERT INTO history VALUES (" t ", " (1 + t % 6) ", " a ", " d ", 's" session "');"
  print "COMMIT;"
}

function line(id, n) {
  print "INSERT INTO order_lines VALUES (" id ", " n ", 'sku-" pick(1, 42) "', " pick(1, 9) ");"
  print "UPDATE products SET stock = stock - 1 WHERE sku = 'sku-" pick(1, 40) "';"
}

function new_order(  id, i, n) {
  id = own(); n = pick(1, 4)
  print "BEGIN;"
  print "INSERT INTO orders VALUES (" id ", " customer() ", 'new', timestamp '2024-01-01' + interval '" pick(1, 500000) " seconds');"
  for (i = 1; i <= n; i++) {        # two of 42 products do not exist: that line fails and is rolled back alone
    print "SAVEPOINT l" i ";"
    print "\\set ON_ERROR_ROLLBACK on"
    line(id, i)
    if (below(5) == 0) print "ROLLBACK TO l" i ";"
    else if (below(2)) print "RELEASE l" i ";"
    nap()
  }
  print "\\set ON_ERROR_ROLLBACK off"
  if (below(2)) print "INSERT INTO order_notes VALUES (" own() ", " id ", 'leave at the door');"
  print "COMMIT;"
}

function change_order() {
  print "BEGIN;"
  if (below(4)) print "UPDATE orders SET status = 'sent' WHERE id = " order() ";"
  else print "DELETE FROM orders WHERE id = " order() ";"
  nap()
  print "UPDATE order_lines SET qty = qty + 1 WHERE order_id = " order() ";"
  print "COMMIT;"
}

function customers(  kind) {
  kind = below(4)
  if (kind == 0) print "INSERT INTO customers VALUES (" pick(61, 90) ", 'new" own() "@example.org', 'New');"
  else if (kind == 1) print "UPDATE customers SET id = " pick(61, 90) " WHERE id = " customer() ";"
  else if (kind == 2) print "DELETE FROM customers WHERE id = " pick(61, 90) ";"
  else print "UPDATE customers SET name = 'Renamed " session "' WHERE id = " customer() ";"
}

function mail(  a, b) {             # one address leaves a row and arrives in another one
  a = pick(1, 10); b = pick(1, 30)
  if (below(3)) print "BEGIN;"
  print "UPDATE mailboxes SET email = NULL, version = version + 1 WHERE email = 'box" a "@example.org';"
  print "UPDATE mailboxes SET email = 'box" a "@example.org', version = version + 1 WHERE id = " b ";"
  print "COMMIT;"
}

function savepoints(  i) {
  print "BEGIN;"
  print "SAVEPOINT a; UPDATE accounts SET abalance = abalance + 1 WHERE aid = " pick(1, 600) ";"
  print "SAVEPOINT b; INSERT INTO history VALUES (0, 0, 0, 0, 'in b');"
  print "SAVEPOINT c; UPDATE devices SET beats = beats + 1 WHERE id = md5('" pick(1, 40) "')::uuid;"
  nap()
  if (below(2)) print "ROLLBACK TO b; INSERT INTO history VALUES (0, 0, 0, 1, 'after b');"
  print "SAVEPOINT d; UPDATE ledger_full SET amount = amount + 0.25 WHERE id = " pick(1, 30) ";"
  if (below(4) == 0) print "ROLLBACK TO a;"
  print "COMMIT;"
}

function whole_abort() {
  print "BEGIN;"
  print "UPDATE accounts SET abalance = 0 WHERE aid = " pick(1, 600) ";"
  print "SAVEPOINT s; INSERT INTO history VALUES (1, 1, 1, 1, 'never');"
  nap()
  print "ROLLBACK;"
}

function full_identity(  k) {
  k = below(6)
  print "BEGIN;"
  if (k < 2) print "INSERT INTO audit_full VALUES ('user" pick(0, 4) "', 'seen', " pick(0, 2) ");"
  else if (k == 2) print "DELETE FROM audit_full WHERE ctid = (SELECT min(ctid) FROM audit_full WHERE who = 'user" pick(0, 4) "');"
  else print "UPDATE audit_full SET n = n + 1 WHERE ctid = (SELECT max(ctid) FROM audit_full WHERE who = 'user" pick(0, 4) "');"
  print "UPDATE ledger_full SET amount = amount - 1, owner = 'owner' || id || '-" own() "' WHERE id = " pick(1, 30) ";"
  if (k == 5) print "DELETE FROM ledger_full WHERE id = " pick(1, 60) "; INSERT INTO ledger_full VALUES (" pick(31, 60) ", NULL, 1);"
  print "COMMIT;"
}

function other_identity(  k, i) {
  k = below(8); i = pick(1, 40)
  if (k < 2) print "INSERT INTO parcels VALUES (" own() ", 'Q" own() "', " i ");"
  else if (k == 2) print "UPDATE parcels SET code = code || 'x' WHERE id = " i ";"
  else if (k == 3) print "DELETE FROM parcels WHERE id = " i ";"
  else if (k == 4) print "UPDATE parcels SET id = " own() " WHERE id = " i ";"
  else if (k < 7) print "UPDATE parcels SET weight = weight + 1 WHERE id = " i ";"
  else if (below(2)) print "UPDATE silent SET v = 's" session "' WHERE id = " pick(1, 10) ";"
  else print "DELETE FROM silent WHERE id = " pick(1, 10) "; INSERT INTO silent VALUES (" own() ", 'new');"
}

function hot_row() {
  print "BEGIN;"
  print "UPDATE hot SET n = n + 1 WHERE id = 1;"
  if (below(2)) print "UPDATE accounts SET filler = 's" session "' WHERE aid = " pick(1, 600) ";"
  print "COMMIT;"
}

function upsert() {
  print "BEGIN;"
  print "INSERT INTO counters VALUES ('c" pick(1, 60) "', 1) ON CONFLICT (name) DO UPDATE SET n = counters.n + 1;"
  print "INSERT INTO tags VALUES ('tag " pick(1, 80) "', 1) ON CONFLICT (name) DO UPDATE SET uses = tags.uses + 1;"
  print "COMMIT;"
}

function documents(  k) {           # the same digits again and again: long enough to be stored out of line, yet small when packed
  k = below(4)
  if (k == 0 || serial < 20)
    print "INSERT INTO documents VALUES (" own() ", 'new', repeat(md5('" serial "'), " pick(80, 400) "));"
  else if (k == 1) print "UPDATE documents SET title = 'read by " session "' WHERE id = (SELECT max(id) FROM documents WHERE id < " pick(1, 8) " * 1000000);"
  else if (k == 2) print "UPDATE documents SET body = repeat(md5('" own() "'), " pick(20, 300) ") WHERE id = (SELECT min(id) FROM documents WHERE id > " pick(0, 7) " * 1000000);"
  else print "DELETE FROM documents WHERE id = (SELECT min(id) FROM documents WHERE id > " pick(0, 7) " * 1000000);"
}

function typed_keys(  d) {
  d = "md5('" pick(1, 60) "')::uuid"
  print "BEGIN;"
  print "UPDATE devices SET beats = beats + 1 WHERE id = " d ";"
  if (below(3) == 0) print "INSERT INTO devices VALUES (md5('" own() "')::uuid, 'added');"
  if (below(3) == 0) print "INSERT INTO switches VALUES (" pick(1, 9) " + 5000000000, " (below(2) ? "true" : "false") ", 's" session "') ON CONFLICT DO NOTHING;"
  if (below(3) == 0) print "DELETE FROM switches WHERE room = 5000000000 + " pick(1, 9) " AND is_on;"
  if (below(3) == 0) print "UPDATE switches SET is_on = NOT is_on WHERE room = 5000000000 + " pick(1, 9) " AND note = 's" pick(0, 7) "';"
  if (below(3) == 0) print "UPDATE rates SET uses = uses + 1 WHERE amount = " (below(2) ? "1.50" : "100.00") ";"
  if (below(3) == 0) print "INSERT INTO rates VALUES (" pick(1, 400) " / 8.0) ON CONFLICT DO NOTHING;"
  print "INSERT INTO ticks VALUES (timestamp '2024-05-01' + interval '" own() " milliseconds', " pick(0, 999) " / 4.0);"
  if (below(4) == 0) print "DELETE FROM ticks WHERE at = (SELECT min(at) FROM ticks);"
  print "INSERT INTO metrics VALUES (" pick(0, 99) ", " pick(1, 5) ", 1) ON CONFLICT (day, sensor) DO UPDATE SET value = metrics.value + 1;"
  if (below(5) == 0) print "UPDATE metrics SET day = 99 - day WHERE day = " pick(0, 99) " AND sensor = " pick(1, 5) ";"
  print "COMMIT;"
}

function bulk(  i, n) {
  if (below(4) == 0) { print "TRUNCATE batch_log;"; return }
  n = pick(3, 30)
  print "BEGIN;"
  print "COPY batch_log FROM STDIN;"
  for (i = 0; i < n; i++) print own() "\tline " i " of session " session
  print "\\."
  if (below(2)) print "UPDATE batch_log SET payload = 'touched' WHERE id = " (session * 1000000 + serial) ";"
  if (below(6) == 0) print "TRUNCATE batch_log; INSERT INTO batch_log VALUES (" own() ", 'after the truncate');"
  print "COMMIT;"
}

function two_phase(  gid) {
  gid = "gid-" own()
  print "BEGIN;"
  print "UPDATE accounts SET abalance = abalance + 7 WHERE aid = " pick(1, 600) ";"
  print "SAVEPOINT p; INSERT INTO history VALUES (9, 9, 9, 9, '" gid "');"
  print "PREPARE TRANSACTION '" gid "';"
  nap()
  print "INSERT INTO history VALUES (8, 8, 8, 8, 'between');"
  print (below(4) ? "COMMIT" : "ROLLBACK") " PREPARED '" gid "';"
}

function message() {
  print "BEGIN;"
  print "INSERT INTO history VALUES (7, 7, 7, 7, 'message');"
  print "SELECT pg_logical_emit_message(" (below(2) ? "true" : "false") ", 'sample', 'from session " session "');"
  print "COMMIT;"
}

function slow() {                   # open for long: many others begin and end meanwhile
  print "BEGIN;"
  print "UPDATE tellers SET tbalance = tbalance + 1 WHERE tid = " pick(1, 60) ";"
  print "SELECT pg_sleep(0.0" pick(20, 90) ");"
  print "INSERT INTO history VALUES (6, 6, 6, 6, 'slow');"
  print "COMMIT;"
}

BEGIN {
  state = seed * 7919 + session * 104729 + 12345
  for (i = 0; i < 10; i++) below(2)
  print "\\set QUIET on"
  print "SET client_min_messages = error;"
  for (t = 0; t < count; t++) {
    w = below(200)
    if (w < 56) tpcb()
    else if (w < 84) new_order()
    else if (w < 94) change_order()
    else if (w < 104) customers()
    else if (w < 114) mail()
    else if (w < 128) savepoints()
    else if (w < 135) whole_abort()
    else if (w < 146) upsert()
    else if (w < 156) full_identity()
    else if (w < 165) other_identity()
    else if (w < 175) hot_row()
    else if (w < 179) documents()
    else if (w < 191) typed_keys()
    else if (w < 194) bulk()
    else if (w < 197) two_phase()
    else if (w < 198) message()
    else slow()
  }
}
