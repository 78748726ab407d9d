/* What the transactions of each stream access. */
#include "streams.h"

namespace streams {

namespace {

/* TPC-C: relations as indexes. Shared keys are those that others refer to. */
enum { CHILD = 1, PARENT, ROW, FIRST_UNIQUE, SECOND_UNIQUE, WAREHOUSE, DISTRICT, CUSTOMER, STOCK, ORDER, NEW_ORDER, LINE };

const uint64_t DISTRICTS = 10, CUSTOMERS = 30000, ITEMS = 100000;

uint64_t hash(uint32_t index, uint64_t id)
{
  uint64_t x = id ^ (uint64_t)index << 56;
  return bench_random(&x);
}

} // namespace

source::source(kind w, uint64_t keys, bool h) : what(w), keyspace(keys), hashed(h)
{
  if (what == ZIPF || what == HOT_PARENT)
    bench_zipf_init(&zipf, keyspace, 0.99);
}

void source::add(piece &p, uint32_t index, uint64_t id, uint32_t mode)
{
  p.accesses.push_back({hashed ? hash(index, id) : id, index, mode});
}

void source::children(piece &p)
{
  uint64_t what_else = below(1000);
  if (what_else < 20)
    add(p, PARENT, bench_zipf_next(&zipf, &state), what_else == 0 ? TWPA_MODE_WRITE : TWPA_MODE_UPDATE);
  for (int i = 0; i < 4; i++) {
    add(p, CHILD, fresh++, TWPA_MODE_EXCLUSIVE);
    add(p, PARENT, bench_zipf_next(&zipf, &state), TWPA_MODE_READ);
  }
}

void source::update(piece &p)
{
  for (int i = 0; i < 2; i++) {
    uint64_t row = below(keyspace);
    add(p, ROW, row, TWPA_MODE_EXCLUSIVE);
    for (uint32_t index : {FIRST_UNIQUE, SECOND_UNIQUE}) {
      add(p, index, row * 4 + below(2), TWPA_MODE_EXCLUSIVE);
      add(p, index, row * 4 + 2 + below(2), TWPA_MODE_EXCLUSIVE);
    }
  }
}

void source::new_order(piece &p)
{
  uint64_t w = below(orders.size() / DISTRICTS), d = w * DISTRICTS + below(DISTRICTS), o = d << 32 | orders[d]++;
  add(p, DISTRICT, d, TWPA_MODE_UPDATE);
  add(p, CUSTOMER, w * CUSTOMERS + below(CUSTOMERS), TWPA_MODE_READ);
  add(p, ORDER, o, TWPA_MODE_WRITE);
  add(p, NEW_ORDER, o, TWPA_MODE_EXCLUSIVE);
  for (uint64_t line = 0, lines = 5 + below(11); line < lines; line++) {
    add(p, STOCK, w * ITEMS + below(ITEMS), TWPA_MODE_UPDATE);
    add(p, LINE, o << 4 | line, TWPA_MODE_EXCLUSIVE);
  }
}

void source::payment(piece &p)
{
  uint64_t w = below(orders.size() / DISTRICTS);
  add(p, WAREHOUSE, w, TWPA_MODE_UPDATE);
  add(p, DISTRICT, w * DISTRICTS + below(DISTRICTS), TWPA_MODE_UPDATE);
  add(p, CUSTOMER, w * CUSTOMERS + below(CUSTOMERS), TWPA_MODE_UPDATE);
}

void source::delivery(piece &p)
{
  uint64_t w = below(orders.size() / DISTRICTS);
  for (uint64_t i = 0; i < DISTRICTS; i++) {
    uint64_t d = w * DISTRICTS + i, o = d << 32 | (orders[d] > 20 ? orders[d] - 20 : 0);
    add(p, NEW_ORDER, o, TWPA_MODE_EXCLUSIVE);
    add(p, ORDER, o, TWPA_MODE_UPDATE);
    add(p, CUSTOMER, w * CUSTOMERS + below(CUSTOMERS), TWPA_MODE_UPDATE);
    for (uint64_t line = 0; line < 10; line++)
      add(p, LINE, o << 4 | line, TWPA_MODE_EXCLUSIVE);
  }
}

void source::tpcc(piece &p)
{
  if (orders.empty())
    orders.resize((size_t)(keyspace / (ITEMS + CUSTOMERS) + 1) * DISTRICTS);
  uint64_t dice = below(92); /* the two that only read are not in the stream */
  if (dice < 45)
    new_order(p);
  else if (dice < 88)
    payment(p);
  else
    delivery(p);
}

void source::next(piece &p, size_t transactions)
{
  p.accesses.clear();
  p.ends.clear();
  for (size_t i = 0; i < transactions; i++) {
    switch (what) {
    case UNIFORM:
      for (int k = 0; k < 4; k++)
        add(p, ROW, below(keyspace), TWPA_MODE_EXCLUSIVE);
      break;
    case ZIPF:
      for (int k = 0; k < 4; k++)
        add(p, ROW, bench_zipf_next(&zipf, &state), TWPA_MODE_EXCLUSIVE);
      break;
    case APPEND:
      for (int k = 0; k < 4; k++)
        add(p, ROW, fresh++, TWPA_MODE_EXCLUSIVE);
      break;
    case HOT_PARENT: children(p); break;
    case UPDATE_INDEX: update(p); break;
    case TPCC: tpcc(p); break;
    }
    p.ends.push_back(p.accesses.size());
  }
}

} // namespace streams
