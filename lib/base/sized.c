/* Sized structs, read and written. The rule for reading is that of Linux's copy_struct_from_user. */
#include "base/sized.h"

#include <string.h>

static size_t caller_size(const void *sized)
{
  size_t size;
  memcpy(&size, sized, sizeof size);
  return size;
}

twpa_status twpa__read_sized(void *dst, size_t dst_size, const void *src, size_t min_size)
{
  size_t src_size = 0;
  if (src != NULL) {
    src_size = caller_size(src);
    if (src_size < min_size || src_size > TWPA__SIZED_MAX)
      return TWPA_E_INVAL;
    const unsigned char *bytes = src;
    for (size_t i = dst_size; i < src_size; i++)
      if (bytes[i] != 0)
        return TWPA_E_UNSUPPORTED;
  }
  memset(dst, 0, dst_size);
  if (src != NULL)
    memcpy(dst, src, src_size < dst_size ? src_size : dst_size);
  memcpy(dst, &dst_size, sizeof dst_size);
  return TWPA_OK;
}

twpa_status twpa__write_sized(void *dst, const void *src, size_t src_size, size_t min_size)
{
  size_t dst_size = caller_size(dst);
  if (dst_size < min_size || dst_size > TWPA__SIZED_MAX)
    return TWPA_E_INVAL;
  unsigned char *out = dst;
  size_t known = dst_size < src_size ? dst_size : src_size;
  memcpy(out + sizeof(size_t), (const unsigned char *)src + sizeof(size_t), known - sizeof(size_t));
  memset(out + known, 0, dst_size - known);
  return TWPA_OK;
}
