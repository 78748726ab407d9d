/*
 * Conflict keys. The state of a key is one 64-bit hash, begun from (seed, relation, index) and chained column by column,
 * the hash so far being the seed of the next: with XXH3, or with a cheaper step for canonical forms of 8 bytes, which are
 * mostly numbers. Column borders are unambiguous because each column is a step of its own; a NULL is another kind of
 * step.
 */
#include "plan/key.h"

#include "base/assert.h"
#include "base/hash.h"
#include "plan/canonical.h"

#include <string.h>

#define NULL_STEP UINT64_C(0x9AE16A3B2F90404F)  /* what a NULL mixes in, where it is a value */
#define DOMAIN_STEP UINT64_C(0x2545F4914F6CDD1D)
#define DOMAIN_RELATION UINT64_C(0x9FB21C651E98DF25) /* odd, so that ids are told apart by all of their bits */
#define DOMAIN_INDEX UINT64_C(0xE7037ED1A0B428DB)
#define CHECK_LOW UINT64_C(0xC3A5C85C97CB3127)  /* set the two chains of a fingerprint apart from the key */
#define CHECK_HIGH UINT64_C(0xB492B66FBE98F273)

typedef struct keyer {
  uint64_t hash;
  uint32_t flags;
  uint32_t has_null;
} keyer;

TWPA__STATIC_ASSERT(sizeof(keyer) <= sizeof(twpa_keyer), "the keyer fits its public shell");
TWPA__STATIC_ASSERT(sizeof(twpa_value) == 8 + sizeof(twpa_bytes), "no padding in a value");

uint64_t twpa__key_domain(uint64_t seed, uint64_t relation, uint64_t index)
{
  return twpa__mix64((seed ^ DOMAIN_STEP) + relation * DOMAIN_RELATION + index * DOMAIN_INDEX);
}

void twpa__hashing_begin(twpa__hashing *h, uint64_t domain, bool wide)
{
  h->key = domain;
  h->check[0] = h->key ^ CHECK_LOW;
  h->check[1] = h->key ^ CHECK_HIGH;
  h->wide = wide;
  h->exact = true;
}

/* One column: a canonical form of 8 bytes is a number to the hash, however it came about. */
static uint64_t step_key(uint64_t key, const void *data, size_t len)
{
  if (len != 8)
    return twpa__hash64(data, len, key);
  const unsigned char *p = data;
  uint64_t v = 0;
  for (int i = 0; i < 8; i++)
    v |= (uint64_t)p[i] << (8 * i);
  return twpa__hash_number(v, key);
}

static void step(twpa__hashing *h, const void *data, size_t len)
{
  h->key = step_key(h->key, data, len);
  if (h->wide) {
    h->check[0] = twpa__hash64(data, len, h->check[0]);
    h->check[1] = twpa__hash64(data, len, h->check[1]);
  }
}

void twpa__hashing_null(twpa__hashing *h)
{
  h->key = twpa__mix64(h->key ^ NULL_STEP);
  h->check[0] = twpa__mix64(h->check[0] ^ NULL_STEP);
  h->check[1] = twpa__mix64(h->check[1] ^ NULL_STEP);
}

/* Into check only: the state of the value and its bytes as they are. */
static void step_raw(twpa__hashing *h, const twpa_value *value)
{
  if (!h->wide)
    return;
  bool there = value->state == TWPA_VALUE_BINARY || value->state == TWPA_VALUE_TEXT;
  for (int i = 0; i < 2; i++) {
    h->check[i] = twpa__mix64(h->check[i] + value->state);
    if (there)
      h->check[i] = twpa__hash64(value->bytes.len > 0 ? value->bytes.data : "", value->bytes.len, h->check[i]);
  }
}

void twpa__hashing_predicate(twpa__hashing *h, const twpa_value *value)
{
  step_raw(h, value);
}

/* How many bytes the first n characters of UTF-8 take. */
static size_t utf8_prefix(const unsigned char *text, size_t len, uint32_t n)
{
  size_t i = 0;
  while (i < len) {
    if ((text[i] & 0xC0) != 0x80 && n-- == 0)
      break;
    i++;
  }
  return i;
}

static bool can_be_cut(uint32_t cls)
{
  return cls == TWPA_CLASS_BYTES || cls == TWPA_CLASS_BLANK_PADDED || cls == TWPA_CLASS_FOLDED;
}

static size_t without_blanks(const unsigned char *text, size_t len)
{
  while (len > 0 && text[len - 1] == ' ')
    len--;
  return len;
}

/* Most keys that are no numbers: the value is its canonical form. */
static bool is_plain(uint32_t cls, const twpa_value *value)
{
  return value->state == TWPA_VALUE_BINARY &&
         (cls == TWPA_CLASS_BYTES || (cls == TWPA_CLASS_UUID && value->bytes.len == 16));
}

twpa_status twpa__hashing_column(twpa__hashing *h, uint32_t cls, const twpa_value *value, uint32_t prefix, bool utf8)
{
  if (value->bytes.data == NULL && value->bytes.len > 0)
    return TWPA_E_INVAL;
  if (cls == TWPA_CLASS_UNKNOWN) {
    step_raw(h, value);
    return TWPA_OK;
  }
  if (is_plain(cls, value) && prefix == 0) {
    step(h, value->bytes.len > 0 ? value->bytes.data : "", value->bytes.len);
    return TWPA_OK;
  }
  int64_t number;
  if (!h->wide && twpa__canonical_number(&number, cls, value->state, value->bytes)) {
    h->key = twpa__hash_number((uint64_t)number, h->key);
    return TWPA_OK;
  }
  twpa__canonical_form form;
  twpa_status st = twpa__canonical(&form, cls, value->state, value->bytes);
  if (st != TWPA_OK)
    return st;
  if (prefix > 0 && can_be_cut(cls)) {
    form.len = utf8 ? utf8_prefix(form.data, form.len, prefix) : form.len < prefix ? form.len : prefix;
    if (cls == TWPA_CLASS_BLANK_PADDED)
      form.len = without_blanks(form.data, form.len);
  }
  if (!form.exact)
    h->exact = false;
  step(h, form.data, form.len);
  return TWPA_OK;
}

twpa_status twpa_keyer_begin(twpa_keyer *shell, uint64_t seed, uint64_t relation, uint64_t index, uint32_t flags)
{
  if (shell == NULL)
    return TWPA_E_INVAL;
  if ((flags & ~TWPA_KEYER_NULLS_NOT_DISTINCT) != 0)
    return TWPA_E_UNSUPPORTED;
  const keyer k = {twpa__key_domain(seed, relation, index), flags, 0};
  memset(shell, 0, sizeof *shell);
  memcpy(shell, &k, sizeof k);
  return TWPA_OK;
}

static twpa_status keyer_add(keyer *k, const twpa_value *value)
{
  int64_t number;
  if (twpa__canonical_number(&number, value->cls, value->state, value->bytes)) {
    k->hash = twpa__hash_number((uint64_t)number, k->hash);
    return TWPA_OK;
  }
  if (is_plain(value->cls, value) && value->bytes.data != NULL) {
    k->hash = step_key(k->hash, value->bytes.data, value->bytes.len);
    return TWPA_OK;
  }
  twpa__hashing h = {.key = k->hash};
  if (!twpa__canonical_known(value->cls))
    return TWPA_E_UNSUPPORTED;
  if (value->state == TWPA_VALUE_NULL) {
    if ((k->flags & TWPA_KEYER_NULLS_NOT_DISTINCT) == 0)
      k->has_null = 1;
    twpa__hashing_null(&h);
  } else if (value->state == TWPA_VALUE_BINARY || value->state == TWPA_VALUE_TEXT) {
    twpa_status st = twpa__hashing_column(&h, value->cls, value, 0, false);
    if (st != TWPA_OK)
      return st;
  } else {
    return TWPA_E_INVAL;
  }
  k->hash = h.key;
  return TWPA_OK;
}

twpa_status twpa_keyer_add(twpa_keyer *shell, const twpa_value *value)
{
  if (shell == NULL || value == NULL)
    return TWPA_E_INVAL;
  keyer k;
  memcpy(&k, shell, sizeof k);
  twpa_status st = keyer_add(&k, value);
  if (st == TWPA_OK)
    memcpy(shell, &k, sizeof k);
  return st;
}

twpa_status twpa_keyer_end(const twpa_keyer *shell, twpa_key *key)
{
  if (shell == NULL || key == NULL)
    return TWPA_E_INVAL;
  keyer k;
  memcpy(&k, shell, sizeof k);
  if (k.has_null != 0)
    return TWPA_NONE;
  *key = k.hash;
  return TWPA_OK;
}

twpa_status twpa_key_of(twpa_key *key, uint64_t seed, uint64_t relation, uint64_t index, uint32_t flags,
                        const twpa_value *values, size_t nvalues)
{
  if (key == NULL || (values == NULL && nvalues > 0))
    return TWPA_E_INVAL;
  if ((flags & ~TWPA_KEYER_NULLS_NOT_DISTINCT) != 0)
    return TWPA_E_UNSUPPORTED;
  keyer k = {twpa__key_domain(seed, relation, index), flags, 0};
  for (size_t i = 0; i < nvalues; i++) {
    twpa_status st = keyer_add(&k, &values[i]);
    if (st != TWPA_OK)
      return st;
  }
  if (k.has_null != 0)
    return TWPA_NONE;
  *key = k.hash;
  return TWPA_OK;
}
