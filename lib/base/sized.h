/*
 * Sized structs: how a caller and a library of different ages understand each other. Fields are only ever appended.
 */
#ifndef TWPA_BASE_SIZED_H
#define TWPA_BASE_SIZED_H

#include <twpa/status.h>

/* A struct_size above this is garbage, not a newer caller. */
#define TWPA__SIZED_MAX ((size_t)4096)

/*
 * Copies the caller's struct (its first field is its size) into the library's own. src == NULL gives all zero, with the
 * size set. min_size is the size of the first version. TWPA_E_INVAL if the size is below it or above TWPA__SIZED_MAX;
 * TWPA_E_UNSUPPORTED if the caller uses a field that this library does not have. dst is written only on success.
 */
twpa_status twpa__read_sized(void *dst, size_t dst_size, const void *src, size_t min_size);

/*
 * The other way round, for statistics: writes as much of src as the caller's struct has room for and zeroes what the
 * caller has beyond it; the caller's struct_size stays. TWPA_E_INVAL for a size below min_size or above the limit.
 */
twpa_status twpa__write_sized(void *dst, const void *src, size_t src_size, size_t min_size);

#endif
