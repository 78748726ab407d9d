/* A program of somebody else: are the headers and the library that it found of one version? */
#include <twpa/twpa.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
  printf("headers %s, library %s\n", TWPA_VERSION_STRING, twpa_version());
  if (twpa_version_number() != TWPA_VERSION_NUMBER || strcmp(twpa_version(), TWPA_VERSION_STRING) != 0)
    return 1;
  return strcmp(twpa_status_name(TWPA_OK), "TWPA_OK") == 0 ? 0 : 1;
}
