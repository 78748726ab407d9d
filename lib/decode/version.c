/* The list of catalog versions. */
#include "decode/version.h"

#include "base/assert.h"

#include <string.h>

twpa_status twpa__versions_init(twpa__versions *versions, twpa__mem *mem, size_t limit)
{
  *versions = (twpa__versions){.mem = mem, .limit = limit};
  twpa__version *root = twpa__zalloc(mem, sizeof *root);
  if (root == NULL)
    return TWPA_E_NOMEM;
  versions->first = versions->last = versions->oldest_bytes = root;
  return TWPA_OK;
}

static void free_bytes(twpa__versions *versions, twpa__version *version)
{
  if (version->invals == NULL)
    return;
  versions->held -= version->invals_len;
  twpa__release(versions->mem, version->invals, version->invals_len);
  version->invals = NULL;
}

static void free_first(twpa__versions *versions)
{
  twpa__version *version = versions->first;
  if (versions->oldest_bytes == version)
    versions->oldest_bytes = version->next;
  free_bytes(versions, version);
  versions->first = version->next;
  twpa__release(versions->mem, version, sizeof *version);
}

void twpa__versions_free(twpa__versions *versions)
{
  while (versions->first != NULL)
    free_first(versions);
  versions->last = NULL;
}

void twpa__versions_trim(twpa__versions *versions, bool bytes_too)
{
  while (versions->first != versions->last && versions->first->users == 0) {
    free_first(versions);
    versions->count--;
  }
  free_bytes(versions, versions->first); /* nobody begins before it */
  while (bytes_too && versions->held > versions->limit) {
    TWPA__ASSERT(versions->oldest_bytes != NULL);
    free_bytes(versions, versions->oldest_bytes);
    versions->oldest_bytes = versions->oldest_bytes->next;
  }
  if (versions->oldest_bytes == NULL)
    versions->oldest_bytes = versions->last;
}

twpa_status twpa__versions_add(twpa__versions *versions, const twpa_record *record, twpa_bytes invals, uint64_t seq)
{
  twpa__version *version = twpa__zalloc(versions->mem, sizeof *version);
  void *copy = invals.len > 0 ? twpa__alloc(versions->mem, invals.len) : NULL;
  if (version == NULL || (copy == NULL && invals.len > 0)) {
    twpa__release(versions->mem, version, sizeof *version);
    twpa__release(versions->mem, copy, invals.len);
    return TWPA_E_NOMEM;
  }
  if (copy != NULL)
    memcpy(copy, invals.data, invals.len);
  version->seq = seq;
  version->lsn = record->lsn;
  version->xid = record->xid;
  version->invals = copy;
  version->invals_len = invals.len;
  versions->last->next = version;
  versions->last = version;
  versions->held += invals.len;
  versions->count++;
  return TWPA_OK;
}
