/*
 * Versions of the catalog: what committed transactions have changed in it, kept once for all transactions that are open
 * meanwhile, instead of being copied into each. They form one list in the order of the log. A transaction remembers the
 * version after which it began; giving it out passes the versions that follow, each at its place between the changes,
 * and executes their invalidations. The list is cut off before the oldest version that somebody still begins at.
 *
 * The bytes of a transaction's followers are limited: beyond the limit everything is invalidated instead. So the bytes
 * of a version that lies further back than the limit are of no use to anybody, and are given up: the list never holds
 * more than the limit.
 */
#ifndef TWPA_DECODE_VERSION_H
#define TWPA_DECODE_VERSION_H

#include "base/alloc.h"

#include <stdbool.h>
#include <twpa/change.h>

typedef struct twpa__version {
  struct twpa__version *next;
  uint64_t seq; /* its place among the changes */
  twpa_lsn lsn;
  twpa_xid xid;      /* who committed it */
  size_t users;      /* transactions that begin at it */
  void *invals;      /* NULL: none, or given up */
  size_t invals_len; /* also when given up */
} twpa__version;

typedef struct twpa__versions {
  twpa__mem *mem;
  twpa__version *first, *last; /* never NULL: the one before all others has nothing in it */
  twpa__version *oldest_bytes; /* everything before it has given up its bytes */
  size_t limit;                /* bytes */
  size_t held;                 /* bytes */
  size_t count;                /* without the very first */
} twpa__versions;

twpa_status twpa__versions_init(twpa__versions *versions, twpa__mem *mem, size_t limit);
void twpa__versions_free(twpa__versions *versions);
/* Appends a version; its bytes are copied. TWPA_E_NOMEM: nothing has happened. */
twpa_status twpa__versions_add(twpa__versions *versions, const twpa_record *record, twpa_bytes invals, uint64_t seq);
/*
 * Frees what nobody begins at any more; and with bytes_too the bytes beyond the limit, which must not happen while a
 * transaction may be walked on another thread.
 */
void twpa__versions_trim(twpa__versions *versions, bool bytes_too);

#endif
