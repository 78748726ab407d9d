/* Records made by hand for the tests of wal_parse: main data and one page, without a log around them. */
#ifndef TESTS_HOSTS_RECORD_MAKER_H
#define TESTS_HOSTS_RECORD_MAKER_H

#include "hosts/wal_maker.h"
#include "support/wal/wal_records.h"

/* A record as the reader would give it. */
typedef struct made {
  wal_record record;
  wal_block block[2];
  bytes main, data;
} made;

/* Of which version; 15 at the start of each test if record_maker_setup is its fixture. */
extern const pg_format *made_format;
void record_maker_setup(void);

made make(unsigned rmgr, unsigned info);
/* It refers to block 77 of file 4000; m->data is what it has about it. */
void with_page(made *m);
void done(made *m);

bool made_parse(wal_content *out, made *m, host_error *err);
/* It must be parsed, as this kind. */
void expect(wal_content *out, made *m, wal_kind kind);
/* It must be refused, with a message that says where it is, and this. */
void refuse(made *m, const char *why);
/* Longer by one and shorter by one it must be refused. */
void refuse_lengths(made *m);

#endif
