/* Records made by hand for the tests of wal_parse. */
#include "hosts/record_maker.h"

#include "support/runner.h"

#include <stdio.h>
#include <string.h>

const pg_format *made_format;

void record_maker_setup(void)
{
  made_format = pg_format_by_major(15);
}

made make(unsigned rmgr, unsigned info)
{
  made m = {.record = {.start = 0x1234560, .xid = 700, .rmgr = (uint8_t)rmgr, .info = (uint8_t)info}};
  return m;
}

void with_page(made *m)
{
  m->record.nblocks = 1;
  m->block[0] = (wal_block){.locator = {1663, 5, 4000}, .block = 77};
}

bool made_parse(wal_content *out, made *m, host_error *err)
{
  m->record.main_data = m->main.data;
  m->record.main_len = (uint32_t)m->main.len;
  m->record.blocks = m->block;
  m->block[0].data = m->data.data;
  m->block[0].data_len = (uint32_t)m->data.len;
  m->block[0].has_data = m->data.len > 0;
  *err = (host_error){""};
  return wal_parse(out, &m->record, made_format, err);
}

void expect(wal_content *out, made *m, wal_kind kind)
{
  host_error err;
  ck_assert_msg(made_parse(out, m, &err), "%s", err.text);
  ck_assert_int_eq(out->kind, kind);
}

void refuse(made *m, const char *why)
{
  host_error err;
  wal_content out;
  ck_assert_msg(!made_parse(&out, m, &err), "accepted, not refused because %s", why);
  ck_assert_msg(strstr(err.text, why) != NULL, "%s: %s", err.text, why);
  char place[100];
  snprintf(place, sizeof place, "WAL record at 0/1234560 (%s, info %02X, PostgreSQL %u): ",
           wal_rmgr_name(m->record.rmgr), m->record.info, (unsigned)made_format->major);
  ck_assert_msg(strncmp(err.text, place, strlen(place)) == 0, "%s", err.text);
}

void refuse_lengths(made *m)
{
  host_error err;
  wal_content out;
  m->main.len--;
  ck_assert(!made_parse(&out, m, &err));
  m->main.len++;
  bytes_u8(&m->main, 0);
  ck_assert(!made_parse(&out, m, &err));
  m->main.len--;
  ck_assert(made_parse(&out, m, &err));
}

void done(made *m)
{
  bytes_free(&m->main);
  bytes_free(&m->data);
}
