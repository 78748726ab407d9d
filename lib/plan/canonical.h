/*
 * Canonical forms: two values of one equality class (twpa/key.h) that are equal for the database have the same
 * canonical bytes, whatever their width, spelling or form (binary, text) was. The bytes are what keys hash.
 */
#ifndef TWPA_PLAN_CANONICAL_H
#define TWPA_PLAN_CANONICAL_H

#include <stdbool.h>
#include <string.h>
#include <twpa/key.h>

#define TWPA__CANONICAL_SCRATCH 160

typedef struct twpa__canonical_form {
  const void *data; /* into the value itself, or into scratch; not NULL */
  size_t len;
  bool exact; /* false: cut short because it is too long. Equal values still have equal bytes, but equal bytes no longer
                 mean equal values */
  unsigned char scratch[TWPA__CANONICAL_SCRATCH];
} twpa__canonical_form;

/*
 * The fast way for the binary forms that are a number already: true, and the number whose 8 bytes, little-endian, are the
 * canonical form. False says nothing: ask twpa__canonical.
 */
static inline bool twpa__canonical_number(int64_t *out, uint32_t cls, uint32_t state, twpa_bytes bytes)
{
  if (state != TWPA_VALUE_BINARY || bytes.data == NULL)
    return false;
  if (bytes.len == 8 && (cls == TWPA_CLASS_INTEGER || cls == TWPA_CLASS_TIMESTAMP || cls == TWPA_CLASS_TIMESTAMPTZ)) {
    memcpy(out, bytes.data, 8);
    return true;
  }
  if (bytes.len == 4 && cls == TWPA_CLASS_INTEGER) {
    int32_t v;
    memcpy(&v, bytes.data, 4);
    *out = v;
    return true;
  }
  return false;
}

/*
 * cls is any class but TWPA_CLASS_UNKNOWN, state is TWPA_VALUE_BINARY or TWPA_VALUE_TEXT. TWPA_E_INVAL if the bytes are
 * not a value of the class, TWPA_E_UNSUPPORTED for a class that does not exist; *form is then undefined.
 */
twpa_status twpa__canonical(twpa__canonical_form *form, uint32_t cls, uint32_t state, twpa_bytes bytes);

/* True for the values of TWPA_CLASS_*, TWPA_CLASS_UNKNOWN included. */
bool twpa__canonical_known(uint32_t cls);

/*
 * True if a foreign key column of class `child` can be compared with a referenced one of class `parent` by their
 * canonical bytes, each made by its own class: equal for the database implies equal bytes. False where it does not,
 * or where that is not known (integer and float: the database rounds; text and char(n): it trims; integer and object
 * id: it wraps; timestamps with and without zone: it asks the session).
 */
bool twpa__canonical_joins(uint32_t child, uint32_t parent);

/* True if equal values of the class have equal bytes in a column of one type: what the strength of a row lock is about. */
bool twpa__canonical_is_bytes(uint32_t cls);

#endif
