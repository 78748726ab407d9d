/**
 * @file types.h
 * Basic types of libtwpa, the allocator hook, and the rules that hold for every function.
 */
#ifndef TWPA_TYPES_H
#define TWPA_TYPES_H

#include <stddef.h>
#include <stdint.h>

/**
 * @defgroup types Basic types
 *
 * **Argument order**, everywhere: the handle, outputs, inputs; an array before its length; a table of functions before
 * its user pointer. A function that creates an object returns a status and gives the object through its first
 * parameter; `_free(NULL)` does nothing.
 *
 * **Sized structs**: every options struct and table of hooks starts with `size_t struct_size`, set by the `_INIT` macro
 * to the size the caller was compiled with. A field that the caller does not know is zero for the library; a field that
 * the library does not know must be zero, or the call returns #TWPA_E_UNSUPPORTED.
 *
 * **Pointers** are never NULL unless the parameter says so; a NULL where none is allowed gives #TWPA_E_INVAL. A function
 * that returns no status then returns 0 or NULL, or does nothing.
 *
 * **Threads**: one object is used by one thread at a time; different objects are independent. The library has no global
 * state, starts no thread, reads no clock, opens no file and prints nothing, unless an optional module says otherwise.
 *
 * **Failure**: a call that fails leaves its object as it was, unless the function says otherwise.
 *
 * **Callbacks** never call back into the object that called them (statistics and accessors excepted): such a call
 * returns #TWPA_E_REENTRANT. What a callback is given is borrowed until it returns.
 * @{
 */

#if defined(__cplusplus)
#define TWPA_BEGIN_DECLS extern "C" { /**< Opens a C linkage block in C++. */
#define TWPA_END_DECLS }              /**< Closes a C linkage block in C++. */
#else
#define TWPA_BEGIN_DECLS /**< Opens a C linkage block in C++. */
#define TWPA_END_DECLS   /**< Closes a C linkage block in C++. */
#endif

#if defined(TWPA_NO_API_ATTRIBUTES)
/** Marks a public function. Define `TWPA_NO_API_ATTRIBUTES` when the static library becomes part of a shared one. */
#define TWPA_API
#elif defined(__GNUC__)
/** Marks a public function. Define `TWPA_NO_API_ATTRIBUTES` when the static library becomes part of a shared one. */
#define TWPA_API __attribute__((visibility("default")))
#else
/** Marks a public function. Define `TWPA_NO_API_ATTRIBUTES` when the static library becomes part of a shared one. */
#define TWPA_API
#endif

#if defined(__GNUC__)
/** The result of the function must be looked at. */
#define TWPA_NODISCARD __attribute__((warn_unused_result))
#else
/** The result of the function must be looked at. */
#define TWPA_NODISCARD
#endif

TWPA_BEGIN_DECLS

/** A position in the log, in bytes. 0 means "none". */
typedef uint64_t twpa_lsn;

/** The position "none". */
#define TWPA_LSN_NONE ((twpa_lsn)0)

/**
 * A full transaction id: 64 bits, never wraps, ordered by plain comparison (PostgreSQL: FullTransactionId).
 * A log with 32-bit ids is widened at the border by twpa_xid_widen().
 */
typedef uint64_t twpa_xid;

#define TWPA_XID_NONE ((twpa_xid)0)         /**< No transaction id (PostgreSQL: InvalidTransactionId). */
#define TWPA_XID_BOOTSTRAP ((twpa_xid)1)    /**< Rows made at initdb; always committed. */
#define TWPA_XID_FROZEN ((twpa_xid)2)       /**< Rows frozen by vacuum; always committed. */
#define TWPA_XID_FIRST_NORMAL ((twpa_xid)3) /**< The first id that a transaction can have. */

/** A command number inside a transaction. */
typedef uint32_t twpa_cid;

/** No command number (PostgreSQL: InvalidCommandId). */
#define TWPA_CID_NONE ((twpa_cid)0xFFFFFFFFu)

/** Microseconds since an epoch of the host's choice (PostgreSQL: 2000-01-01 00:00 UTC). Only handed on. */
typedef int64_t twpa_time;

/** Where the rows of a relation are stored (PostgreSQL: RelFileLocator). All zero means "none". */
typedef struct twpa_locator {
  uint32_t space;    /**< Tablespace. */
  uint32_t database; /**< Database; 0 for relations shared by all databases. */
  uint32_t file;     /**< File number; changes when the relation is rewritten. */
} twpa_locator;

/** Where a row version is stored (PostgreSQL: ItemPointer). */
typedef struct twpa_tid {
  uint32_t block;    /**< Block number. */
  uint16_t line;     /**< Line number in the block, from 1. */
  uint16_t reserved; /**< 0. */
} twpa_tid;

/** Borrowed bytes. */
typedef struct twpa_bytes {
  const void *data; /**< First byte; NULL means "absent", which is not the same as an empty value. */
  size_t len;       /**< Number of bytes. */
} twpa_bytes;

/**
 * Where an object takes its memory from. Copied by the object; NULL in its place means the C library's allocator, but on
 * Linux for blocks from 2 MiB on (tables, mostly): they are mapped for themselves, in huge pages where the system has them
 * ("madvise" or "always" in /sys/kernel/mm/transparent_hugepage/enabled), and become resident as they are written.
 * Addresses must be aligned for every C type. Sizes are exact: what is given back has the size it was asked for.
 * The functions may be called by whatever thread uses the object, and call nothing of the library themselves.
 */
typedef struct twpa_allocator {
  void *user; /**< First argument of the three functions. */
  /** Returns @p size bytes (never 0), or NULL. */
  void *(*alloc)(void *user, size_t size);
  /** Changes the size of @p p from @p old_size to @p new_size (never 0) bytes; NULL leaves @p p as it was. */
  void *(*resize)(void *user, void *p, size_t old_size, size_t new_size);
  /** Gives back @p p of @p size bytes. Never called with NULL; cannot fail. */
  void (*release)(void *user, void *p, size_t size);
} twpa_allocator;

/**
 * Widens a 32-bit transaction id of the log to a full one.
 *
 * The result is the id closest to @p near whose low 32 bits are @p xid32; of the two ids at exactly the same distance
 * (2^31) it is the lower one, as PostgreSQL's modular comparison has it. The special ids 0, 1 and 2 stay what they are.
 * An id that would lie before the beginning of counting is not possible: then the next higher one is the result.
 *
 * @param[in] xid32  the id as the log has it
 * @param[in] near   a full id known to be less than 2^31 away from the true one, for example the next id of the last
 *                   checkpoint or the last id widened; a special id counts as the first normal one
 * @return the full id. O(1).
 */
TWPA_API twpa_xid twpa_xid_widen(uint32_t xid32, twpa_xid near);

TWPA_END_DECLS
/** @} */
#endif
