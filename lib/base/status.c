/* Names and texts of the statuses, from one list. */
#include <twpa/status.h>

#define STATUS_LIST(X)                                             \
  X(TWPA_OK, "done")                                               \
  X(TWPA_NONE, "nothing to give at the moment")                    \
  X(TWPA_E_NOMEM, "out of memory")                                 \
  X(TWPA_E_INVAL, "invalid argument")                              \
  X(TWPA_E_STATE, "call does not fit the state of the object")     \
  X(TWPA_E_NOTFOUND, "not found")                                  \
  X(TWPA_E_EXISTS, "exists already")                               \
  X(TWPA_E_LIMIT, "limit reached")                                 \
  X(TWPA_E_CALLBACK, "a callback of the host failed")              \
  X(TWPA_E_UNSUPPORTED, "not supported by this build")             \
  X(TWPA_E_REENTRANT, "called from inside a callback of the object") \
  X(TWPA_E_CORRUPT, "stored data is damaged")

const char *twpa_status_name(twpa_status status)
{
  switch (status) {
#define X(code, text) \
  case code:          \
    return #code;
    STATUS_LIST(X)
#undef X
  default:
    return "TWPA_E_UNKNOWN";
  }
}

const char *twpa_status_text(twpa_status status)
{
  switch (status) {
#define X(code, text) \
  case code:          \
    return text;
    STATUS_LIST(X)
#undef X
  default:
    return "unknown status";
  }
}
