/* The fixture of the tests by example. */
#include "decode/fixture.h"

#include <string.h>

kit k;
twpa_reorder *r;

void fixture_setup(void)
{
  kit_init(&k);
  r = NULL;
}

void fixture_teardown(void)
{
  if (r != NULL)
    kit_done(&k, r);
  for (size_t i = 0; i < k.ntaken; i++)
    twpa_txn_release(k.taken[i]);
  kit_free(&k);
}

void fixture_again(void)
{
  fixture_teardown();
  fixture_setup();
}

twpa_reorder *fixture_make(size_t limit, bool streaming, bool two_phase)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = limit, .streaming = streaming,
                                  .two_phase = two_phase, .two_phase_at = 500};
  return kit_new(&k, &options, NULL);
}

void expect(const char *log)
{
  ck_assert_str_eq(text_get(&k.log), log);
  text_clear(&k.log);
}

void fill(twpa_xid xid, twpa_xid top, twpa_lsn lsn, size_t n)
{
  for (size_t i = 0; i < n; i++)
    ck_assert_int_eq(kit_row(r, TWPA_INSERT, xid, top, lsn, "row"), TWPA_OK);
  kit_check(r);
}

size_t count_word(const char *in, const char *word)
{
  size_t n = 0;
  for (const char *p = in; (p = strstr(p, word)) != NULL; p++)
    n++;
  return n;
}
