/*
 * One kit and one buffer for the tests by example: what the test cases of several binaries begin and end with. A test
 * makes the buffer itself, with the options it wants.
 */
#ifndef TESTS_DECODE_FIXTURE_H
#define TESTS_DECODE_FIXTURE_H

#include "decode/kit.h"

extern kit k;
extern twpa_reorder *r;

void fixture_setup(void);
/* Checks the buffer and what it has left in storage, and frees it; what is taken still is given back. */
void fixture_teardown(void);
/* A teardown and a setup, for a test that tries many cases. */
void fixture_again(void);
/* Two-phase commit is on from position 500. */
twpa_reorder *fixture_make(size_t limit, bool streaming, bool two_phase);
/* The log is this; it is empty afterwards. */
void expect(const char *log);
/* Many small rows. */
void fill(twpa_xid xid, twpa_xid top, twpa_lsn lsn, size_t n);
/* How often a word is in a text. */
size_t count_word(const char *in, const char *word);

#endif
