/*
 * What twpa/key.h needs inside: the steps of a key's hash, and the fingerprint of a value that row memory compares.
 */
#ifndef TWPA_PLAN_KEY_H
#define TWPA_PLAN_KEY_H

#include <stdbool.h>
#include <twpa/key.h>

/* The hash a key of (relation, index) begins with. */
uint64_t twpa__key_domain(uint64_t seed, uint64_t relation, uint64_t index);

/*
 * A value on its way to a key. `key` is the conflict key; `check` are two more chains, independent of it, that take part
 * where equality itself is decided: together they are 128 bits over the whole value, the columns of unknown class and of
 * the predicate included.
 */
typedef struct twpa__hashing {
  uint64_t key;
  uint64_t check[2];
  bool wide;  /* compute check as well */
  bool exact; /* false: check does not stand for the value */
} twpa__hashing;

/* domain: what twpa__key_domain gave. */
void twpa__hashing_begin(twpa__hashing *h, uint64_t domain, bool wide);

/*
 * Adds a column that is there (binary or text). prefix > 0 cuts it, in characters of UTF-8 or in bytes. A class that is
 * unknown goes into check only. TWPA_E_INVAL: not a value of its class; *h is then undefined.
 */
twpa_status twpa__hashing_column(twpa__hashing *h, uint32_t cls, const twpa_value *value, uint32_t prefix, bool utf8);

/* Adds a NULL where it is a value like any other. */
void twpa__hashing_null(twpa__hashing *h);

/* Adds a column of a predicate, as bytes and into check only. */
void twpa__hashing_predicate(twpa__hashing *h, const twpa_value *value);

#endif
