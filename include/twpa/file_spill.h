/**
 * @file file_spill.h
 * Spill storage in the files of one directory.
 */
#ifndef TWPA_FILE_SPILL_H
#define TWPA_FILE_SPILL_H

#include <twpa/storage.h>

/**
 * @defgroup file_spill Spill storage in files
 * The hooks of twpa/storage.h for POSIX systems: an optional module, and the only one of the library that touches
 * files.
 *
 * One directory, which must exist, belongs to one #twpa_file_spill at a time, and one of these to one buffer. Files
 * are called `twpa-NUMBER.spill`; those that an earlier run has left there are removed at the start, and nothing is
 * ever read from them. Nothing is synced: what is in the files is worth nothing after the process. The number of
 * open files is limited, whatever the number of transactions.
 *
 * Reading is safe on other threads, as the hooks of the storage must be: a thread that finds the open files in use
 * opens the file for itself.
 * @{
 */

TWPA_BEGIN_DECLS

/** A directory for spilling. Opaque. */
typedef struct twpa_file_spill twpa_file_spill;

/** Options; zero is the default of each. Initialise with #TWPA_FILE_SPILL_OPTIONS_INIT. */
typedef struct twpa_file_spill_options {
  size_t struct_size;     /**< Set by #TWPA_FILE_SPILL_OPTIONS_INIT. */
  const char *directory;  /**< The directory. Required. */
  uint32_t open_files;    /**< How many files may be open at a time, at most 1024; 0: 16. */
  uint32_t reserved;      /**< 0. */
} twpa_file_spill_options;

/** Start of an initialiser of a #twpa_file_spill_options. */
#define TWPA_FILE_SPILL_OPTIONS_INIT sizeof(twpa_file_spill_options)

/**
 * Takes a directory and removes the spill files in it.
 * @param[out] spill      the storage; unchanged on failure
 * @param[in]  options    copied
 * @param[in]  allocator  copied; NULL for the C library's
 * @return #TWPA_OK; #TWPA_E_INVAL for wrong options; #TWPA_E_NOTFOUND if the directory cannot be opened (`errno` says
 *         why); #TWPA_E_EXISTS if another process or object uses it for spilling; #TWPA_E_NOMEM. O(files in it).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_file_spill_new(twpa_file_spill **spill, const twpa_file_spill_options *options,
                                                        const twpa_allocator *allocator);

/**
 * Closes the files and lets go of the directory. After the buffer that uses it, and after the last transaction that was
 * taken from that buffer.
 * @param[in] spill  the storage; NULL does nothing
 */
TWPA_API void twpa_file_spill_free(twpa_file_spill *spill);

/**
 * The hooks, for twpa_reorder_options.storage.
 * @param[in]     spill    the storage; must live as long as the hooks are used
 * @param[in,out] storage  its struct_size set by the caller (#TWPA_STORAGE_INIT); filled in up to that
 * @return #TWPA_OK; #TWPA_E_INVAL for a NULL or a wrong struct_size. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_file_spill_storage(twpa_file_spill *spill, twpa_storage *storage);

/**
 * Why a hook has failed.
 * @param[in] spill  the storage; may be asked on any thread
 * @return the value of `errno` of the last failure: `ENOSPC` also for a write that was cut short; 0 if there was none.
 *         A read that finds too few bytes is no failure of the system: the call returns #TWPA_E_CORRUPT.
 */
TWPA_API int twpa_file_spill_errno(const twpa_file_spill *spill);

TWPA_END_DECLS
/** @} */
#endif
