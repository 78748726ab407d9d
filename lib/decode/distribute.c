/* Catalog changes of others: one version for all open transactions. */
#include "decode/reorder.h"

twpa_status twpa_reorder_distribute(twpa_reorder *r, const twpa_record *record, twpa_bytes content)
{
  if (record == NULL || (content.data == NULL && content.len > 0))
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  st = twpa__versions_add(&r->versions, record, content, r->next_seq);
  if (st == TWPA_OK) {
    r->next_seq++;
    twpa__versions_trim(&r->versions, r->ntaken == 0);
  }
  return twpa__reorder_leave(r, record, st);
}
