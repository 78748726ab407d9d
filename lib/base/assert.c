/* Where a failed assertion ends. Compiled to nothing in builds without assertions, which therefore cannot abort. */
#include "base/assert.h"

#if TWPA_ASSERT_LEVEL >= 1
#include <stdlib.h>

_Noreturn void twpa__assert_failed(const char *cond, const char *file, int line)
{
  /* Volatile, so that a debugger and a core file show what was asserted. */
  const char *volatile shown_cond = cond;
  const char *volatile shown_file = file;
  volatile int shown_line = line;
  (void)shown_cond;
  (void)shown_file;
  (void)shown_line;
  abort();
}
#else
typedef int twpa__assert_nothing;
#endif
