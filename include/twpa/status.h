/**
 * @file status.h
 * What a function returns.
 */
#ifndef TWPA_STATUS_H
#define TWPA_STATUS_H

#include <twpa/types.h>

/**
 * @defgroup status Statuses
 * Every function that can fail returns a #twpa_status: 0 for success, a positive value for "nothing to give" (not a
 * failure), a negative one for a failure. The numbers are part of the ABI and never change their meaning.
 * @{
 */

TWPA_BEGIN_DECLS

/** Result of a function: one of the constants below. An `int`, so that its size does not depend on an enumeration. */
typedef int twpa_status;

/** The values of #twpa_status. */
enum {
  TWPA_OK = 0,              /**< Done. */
  TWPA_NONE = 1,            /**< Nothing to give at the moment: the end of an iteration, or an empty queue. */
  TWPA_E_NOMEM = -1,        /**< The allocator returned NULL. */
  TWPA_E_INVAL = -2,        /**< An argument is wrong by itself. */
  TWPA_E_STATE = -3,        /**< The call does not fit the state of the object. */
  TWPA_E_NOTFOUND = -4,     /**< The thing named does not exist. */
  TWPA_E_EXISTS = -5,       /**< The thing named exists already. */
  TWPA_E_LIMIT = -6,        /**< A limit that the host has set is reached; make room and try again. */
  TWPA_E_CALLBACK = -7,     /**< A hook of the host reported a failure. */
  TWPA_E_UNSUPPORTED = -8,  /**< The caller asks for something that this build of the library does not know. */
  TWPA_E_REENTRANT = -9,    /**< Called from inside a callback of the same object. */
  TWPA_E_CORRUPT = -10      /**< Stored data is damaged. */
};

/**
 * The name of a status, such as "TWPA_E_NOMEM".
 * @param[in] status  any value
 * @return a static string, never NULL; "TWPA_E_UNKNOWN" for a value that is none. O(1).
 */
TWPA_API const char *twpa_status_name(twpa_status status);

/**
 * A status as an English phrase, such as "out of memory".
 * @param[in] status  any value
 * @return a static string, never NULL; "unknown status" for a value that is none. O(1).
 */
TWPA_API const char *twpa_status_text(twpa_status status);

TWPA_END_DECLS
/** @} */
#endif
