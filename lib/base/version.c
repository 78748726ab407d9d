/* Which libtwpa this is. */
#include <twpa/version.h>

const char *twpa_version(void)
{
  return TWPA_VERSION_STRING;
}

int twpa_version_number(void)
{
  return TWPA_VERSION_NUMBER;
}
