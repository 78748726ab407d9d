/*
 * Long values under assembly: the chunks that came before a row, put together by (relation, value). Chunks of one value
 * come in sequence from 0. The bytes of a value are in one piece, so that asking for it costs a look-up only.
 */
#ifndef TWPA_DECODE_TOAST_H
#define TWPA_DECODE_TOAST_H

#include "base/xidmap.h"

#include <twpa/change.h>

typedef struct twpa__toast_value {
  struct twpa__toast_value *next;  /* all values */
  struct twpa__toast_value *other; /* another one with the same hash */
  uint64_t relation, value;
  uint32_t chunks; /* also the next sequence number */
  void *data;
  size_t len, cap;
} twpa__toast_value;

typedef struct twpa__toast {
  twpa__mem *mem;
  twpa__xidmap map; /* hash of (relation, value) -> value */
  twpa__toast_value *values;
  uint64_t chunks; /* of all values */
} twpa__toast;

void twpa__toast_init(twpa__toast *toast, twpa__mem *mem);
/* Adds a chunk. TWPA_E_NOMEM, TWPA_E_CORRUPT (out of sequence): nothing is added. */
twpa_status twpa__toast_add(twpa__toast *toast, const twpa_change *chunk);
/* The value, or NULL. */
const twpa__toast_value *twpa__toast_find(const twpa__toast *toast, uint64_t relation, uint64_t value);
/* Forgets all values. */
void twpa__toast_reset(twpa__toast *toast);
/* Gives up all memory. */
void twpa__toast_free(twpa__toast *toast);

#endif
