/* Equality classes of columns. */
#include "support/pg/pg_key.h"

static uint32_t class_of_type(uint32_t type)
{
  static const struct {
    uint32_t type, cls;
  } classes[] = {
    {16, TWPA_CLASS_BOOLEAN},       {17, TWPA_CLASS_BYTES},          /* bytea */
    {20, TWPA_CLASS_INTEGER},       {21, TWPA_CLASS_INTEGER},        {23, TWPA_CLASS_INTEGER},
    {25, TWPA_CLASS_BYTES},         /* text */
    {26, TWPA_CLASS_UNSIGNED},      /* oid */
    {28, TWPA_CLASS_UNSIGNED},      {29, TWPA_CLASS_UNSIGNED},       /* xid, cid */
    {650, TWPA_CLASS_BYTES},        {869, TWPA_CLASS_BYTES},         /* cidr, inet */
    {700, TWPA_CLASS_FLOAT4},       {701, TWPA_CLASS_FLOAT},
    {790, TWPA_CLASS_INTEGER},      /* money */
    {829, TWPA_CLASS_BYTES},        /* macaddr */
    {1042, TWPA_CLASS_BLANK_PADDED}, {1043, TWPA_CLASS_BYTES},       /* char(n), varchar */
    {1082, TWPA_CLASS_DATE},        {1083, TWPA_CLASS_TIME},
    {1114, TWPA_CLASS_TIMESTAMP},   {1184, TWPA_CLASS_TIMESTAMPTZ},
    {1186, TWPA_CLASS_INTERVAL},    {1266, TWPA_CLASS_TIMETZ},
    {1560, TWPA_CLASS_BYTES},       {1562, TWPA_CLASS_BYTES},        /* bit, varbit */
    {1700, TWPA_CLASS_NUMERIC},     {2950, TWPA_CLASS_UUID},
    {3220, TWPA_CLASS_UNSIGNED},    {5069, TWPA_CLASS_UNSIGNED},     /* pg_lsn, xid8 */
  };
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (classes[i].type == type)
      return classes[i].cls;
  return TWPA_CLASS_UNKNOWN;
}

uint32_t pg_key_class(const pg_relation *relation, size_t column)
{
  const pg_column *c = &relation->columns[column];
  if (c->dropped || c->nondeterministic)
    return TWPA_CLASS_UNKNOWN;
  for (size_t i = 0; i < relation->index_count; i++) {
    const pg_index *index = relation->indexes[i];
    for (size_t k = 0; index->unique && k < index->key_count; k++)
      if (index->keys[k].column == c->num && (index->keys[k].nondeterministic || !index->keys[k].builtin_class))
        return TWPA_CLASS_UNKNOWN;
  }
  return c->base_kind == 'e' ? (uint32_t)TWPA_CLASS_BYTES : class_of_type(c->base_type);
}

twpa_value pg_key_value(uint32_t cls, const pg_value *value)
{
  twpa_value v = {.cls = cls, .state = TWPA_VALUE_ABSENT};
  if (value->kind == PG_VALUE_NULL) {
    v.state = TWPA_VALUE_NULL;
  } else if (value->kind == PG_VALUE_PLAIN) {
    v.state = TWPA_VALUE_BINARY;
    v.bytes = (twpa_bytes){.data = value->data, .len = value->len};
  }
  return v;
}
