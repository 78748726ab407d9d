/**
 * @file version.h
 * Which libtwpa this is.
 */
#ifndef TWPA_VERSION_H
#define TWPA_VERSION_H

#include <twpa/types.h>

/**
 * @defgroup version Version
 * The version of the headers, as macros, and of the library that is linked, as functions.
 * @{
 */

#define TWPA_VERSION_MAJOR 0 /**< Major version of these headers. */
#define TWPA_VERSION_MINOR 1 /**< Minor version of these headers. */
#define TWPA_VERSION_PATCH 0 /**< Patch level of these headers. */
#define TWPA_VERSION_STRING "0.1.0" /**< The version of these headers as text. */

/** The version of these headers as one number: major * 10000 + minor * 100 + patch. */
#define TWPA_VERSION_NUMBER (TWPA_VERSION_MAJOR * 10000 + TWPA_VERSION_MINOR * 100 + TWPA_VERSION_PATCH)

TWPA_BEGIN_DECLS

/**
 * The version of the library that is linked.
 * @return a static string such as "0.1.0". O(1).
 */
TWPA_API const char *twpa_version(void);

/**
 * The version of the library that is linked, as one number.
 * @return major * 10000 + minor * 100 + patch, to be compared with #TWPA_VERSION_NUMBER. O(1).
 */
TWPA_API int twpa_version_number(void);

TWPA_END_DECLS
/** @} */
#endif
