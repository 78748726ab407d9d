// The same from C++.
#include <twpa/twpa.h>

#include <cstdio>
#include <string>

int main()
{
  std::printf("headers %s, library %s\n", TWPA_VERSION_STRING, twpa_version());
  return twpa_version_number() == TWPA_VERSION_NUMBER && std::string(twpa_version()) == TWPA_VERSION_STRING ? 0 : 1;
}
