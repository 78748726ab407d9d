/* What comes out of a reorder buffer, as lines of text, for tests of wal_feed. */
#ifndef TESTS_HOSTS_FEED_LOG_H
#define TESTS_HOSTS_FEED_LOG_H

#include <twpa/twpa.h>

/* A reorder buffer whose output is written down: "B771 i u d n T m C771": begin, insert, update, delete (n: without old
 * row), truncate, message, commit; M is a message outside of transactions. */
typedef struct feed_log {
  twpa_reorder *reorder;
  char text[1 << 20];
  size_t len;
  int fail_at; /* the callback that fails, counted from 1; 0 none */
  int calls;
} feed_log;

feed_log *feed_log_new(void);
void feed_log_free(feed_log *log);
/* What was written down since the last time. */
const char *feed_log_take(feed_log *log);

#endif
