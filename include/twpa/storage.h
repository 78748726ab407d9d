/**
 * @file storage.h
 * Where a buffer puts what does not fit into memory.
 */
#ifndef TWPA_STORAGE_H
#define TWPA_STORAGE_H

#include <twpa/status.h>

/**
 * @defgroup storage Spill storage
 * A buffer that is over its memory limit writes changes into files (whatever the host makes of that word), reads them
 * back when the transaction is delivered, and removes the files. What is in them is worth nothing to anybody else and
 * nothing after the buffer is gone. twpa/file_spill.h is a ready-made one for POSIX systems.
 *
 * A file is named by a number that is never used twice by one buffer. Every block carries its length, a version and a
 * checksum: a storage that gives back other bytes than it was given is found out.
 *
 * A hook returns 0 for success; #TWPA_E_CORRUPT or #TWPA_E_NOMEM, which are passed on as they are; anything else makes
 * the call return #TWPA_E_CALLBACK. After a write that failed, the next one may be at the same place, with other bytes and
 * another length.
 *
 * Small transactions share files, so a file that is read by the thread that walks a taken transaction may be written to
 * at the same time, at its end.
 * @{
 */

TWPA_BEGIN_DECLS

/** The hooks; all are required. Initialise with #TWPA_STORAGE_INIT. */
typedef struct twpa_storage {
  size_t struct_size; /**< Set by #TWPA_STORAGE_INIT. */
  void *user;         /**< First argument of the hooks. */
  /** Writes @p len bytes (never 0) at @p offset, which is never beyond the end; 0 makes the file if there is none. */
  int (*write)(void *user, uint64_t file, uint64_t offset, const void *data, size_t len);
  /** Reads exactly @p len bytes (never 0) that were written before, not always all that one call has written. May be
   *  called by the thread that walks a taken transaction while other hooks run, also for the same file. Too few bytes:
   *  #TWPA_E_CORRUPT. */
  int (*read)(void *user, uint64_t file, uint64_t offset, void *data, size_t len);
  /** Removes the file. A failure never makes a call fail: the buffer asks again later, at last when it is freed.
   *  A file that does not exist is removed. */
  int (*remove)(void *user, uint64_t file);
} twpa_storage;

/** Start of an initialiser of a #twpa_storage. */
#define TWPA_STORAGE_INIT sizeof(twpa_storage)

TWPA_END_DECLS
/** @} */
#endif
