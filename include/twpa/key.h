/**
 * @file key.h
 * Conflict keys: a 64-bit number for the value of a key of a relation.
 */
#ifndef TWPA_KEY_H
#define TWPA_KEY_H

#include <twpa/status.h>

/**
 * @defgroup key Conflict keys
 * Two transactions that may not change places touch a common key. A key is the value of an index (of the *target*),
 * hashed with XXH3 column by column together with the relation and the index it belongs to.
 *
 * **Equal hash means conflict.** Two different values with one hash cost parallelism and nothing else. The dangerous
 * direction is the other one: values that are equal for the database and different as bytes ('1.0' and '1.00', 0.0 and
 * -0.0, 'a' and 'A' under a case-insensitive collation). So every column has an *equality class*, and what is hashed is
 * the canonical form of that class. A column whose equality the library does not know (#TWPA_CLASS_UNKNOWN) is left out
 * of the key: values that differ only there share one key, which is serial and correct.
 *
 * Whoever plans whole transactions need not make keys: see twpa_access_set_change(). This module is for hosts that have
 * conflicts of their own, and for looking up what a transaction waits for.
 * @{
 */

TWPA_BEGIN_DECLS

/** A conflict key. */
typedef uint64_t twpa_key;

/**
 * Equality classes: how values of a column compare, and so what of them is hashed. The binary form of each class
 * (#TWPA_VALUE_BINARY) is given here: it is what PostgreSQL stores, without length header; numbers are in the byte
 * order of the machine. The text form (#TWPA_VALUE_TEXT) is what PostgreSQL prints with its standard settings (ISO
 * dates, interval style `postgres`). Both forms of a value give the same key, except for #TWPA_CLASS_BYTES,
 * #TWPA_CLASS_FOLDED and #TWPA_CLASS_BLANK_PADDED, where the bytes given are the value: such a column must always
 * come in one form.
 */
enum {
  TWPA_CLASS_UNKNOWN = 0,      /**< Equality unknown: the column takes no part in keys (json, point, unknown types). */
  TWPA_CLASS_BYTES = 1,        /**< Equal means equal bytes: bytea, text under a deterministic collation, enums, network
                                    addresses, bit strings, money as text; PostgreSQL's name without its padding. Where
                                    a foreign key joins two types that do not compare by these bytes (macaddr and
                                    macaddr8, "char" and text), its columns are of class unknown. */
  TWPA_CLASS_INTEGER = 2,      /**< Signed integers of 1, 2, 4 or 8 bytes; equal across widths. Money in binary form. */
  TWPA_CLASS_BOOLEAN = 3,      /**< One byte, 0 or not. */
  TWPA_CLASS_UUID = 4,         /**< 16 bytes. */
  TWPA_CLASS_FLOAT = 5,        /**< IEEE numbers of 4 or 8 bytes; -0.0 equals 0.0, every NaN equals every other. Text is
                                    read as double precision. */
  TWPA_CLASS_NUMERIC = 6,      /**< Decimal numbers of any length, NaN, infinities. Text may have an exponent. */
  TWPA_CLASS_BLANK_PADDED = 7, /**< Text whose trailing blanks do not count: char(n). */
  TWPA_CLASS_FOLDED = 8,       /**< Bytes that the host has folded: a collation sort key, citext in lower case. */
  TWPA_CLASS_TIMESTAMP = 9,    /**< 8 bytes, microseconds since 2000-01-01; a zone in the text form is subtracted. */
  TWPA_CLASS_INTERVAL = 10,    /**< 16 bytes: 8 of microseconds, 4 of days, 4 of months. A month is 30 days, a day is
                                    24 hours, as PostgreSQL compares. */
  TWPA_CLASS_FLOAT4 = 11,      /**< As #TWPA_CLASS_FLOAT, 4 bytes, text read as single precision. Equal across both. */
  TWPA_CLASS_UNSIGNED = 12,    /**< Unsigned integers of 1, 2, 4 or 8 bytes; equal across widths. Object ids too. Not
                                    one family with signed integers: in PostgreSQL -1 cast to oid is 4294967295. */
  TWPA_CLASS_DATE = 13,        /**< 4 bytes, days since 2000-01-01. Equals the timestamp of its midnight. */
  TWPA_CLASS_TIME = 14,        /**< 8 bytes, microseconds since midnight. */
  TWPA_CLASS_TIMETZ = 15,      /**< 12 bytes: 8 of microseconds, 4 of zone, in seconds west. Equal if both are. */
  TWPA_CLASS_TIMESTAMPTZ = 16  /**< 8 bytes, microseconds since 2000-01-01 00:00 UTC; the text form has a zone. Not one
                                    family with the other timestamps: how they compare depends on a session setting. */
};

/** What is known of a value. The numbers of #twpa_value.state. */
enum {
  TWPA_VALUE_ABSENT = 0,    /**< Not sent: nothing is known. */
  TWPA_VALUE_NULL = 1,      /**< NULL. */
  TWPA_VALUE_UNCHANGED = 2, /**< In the new row of an update: not sent because it is what it was (unchanged TOAST). */
  TWPA_VALUE_BINARY = 3,    /**< There, in the binary form of its class. */
  TWPA_VALUE_TEXT = 4       /**< There, as text. */
};

/** The value of one column. Borrowed for the duration of the call. */
typedef struct twpa_value {
  uint32_t cls;     /**< Equality class, TWPA_CLASS_*. Where a relation describes the column, its class counts instead. */
  uint32_t state;   /**< TWPA_VALUE_*. */
  twpa_bytes bytes; /**< The value, for TWPA_VALUE_BINARY and TWPA_VALUE_TEXT; ignored otherwise. */
} twpa_value;

/**
 * What an access is about: the kind of a conflict key. All kinds that apply to a change are emitted; there is no
 * priority among them.
 */
enum {
  TWPA_KIND_NO_CONFLICT = 0, /**< Nothing can conflict. */
  TWPA_KIND_PK = 1,          /**< The row, by its identity or primary key. */
  TWPA_KIND_UK = 2,          /**< The value of a further unique index. */
  TWPA_KIND_FK = 3,          /**< A reference to a row of a parent relation. */
  TWPA_KIND_FULL = 4,        /**< The whole row, where there is no key. */
  TWPA_KIND_BARRIER = 5,     /**< A relation, or the whole database. */
  TWPA_KIND_UNKNOWN = 6      /**< A value that cannot be known: an index as a whole. */
};

/** For twpa_keyer_begin(): NULL is a value like any other (NULLS NOT DISTINCT). */
#define TWPA_KEYER_NULLS_NOT_DISTINCT UINT32_C(1)

/** Makes one key. Placed by the caller; its content is private, it owns nothing and needs no end. */
typedef struct twpa_keyer {
  uint64_t opaque[6]; /**< Private. */
} twpa_keyer;

/**
 * Begins a key.
 *
 * @param[out] keyer    memory for the keyer
 * @param[in] seed      the host's seed; must be the same wherever keys are compared. Keep it secret if values come from
 *                      strangers, who could otherwise make values that collide
 * @param[in] relation  the relation the key belongs to
 * @param[in] index     the index it is a value of; for a foreign key the referenced index of the parent
 * @param[in] flags     0 or #TWPA_KEYER_NULLS_NOT_DISTINCT
 * @return #TWPA_OK; #TWPA_E_INVAL for a NULL keyer; #TWPA_E_UNSUPPORTED for an unknown flag. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_keyer_begin(twpa_keyer *keyer, uint64_t seed, uint64_t relation,
                                                     uint64_t index, uint32_t flags);

/**
 * Adds the next column, in the order of the index (for a foreign key: of the referenced index).
 *
 * @param[in,out] keyer  a keyer that has been begun
 * @param[in] value      the value, in binary form, as text, or NULL
 * @return #TWPA_OK; #TWPA_E_INVAL if the value is absent, unchanged, or not a value of its class (the keyer is then as
 *         it was); #TWPA_E_UNSUPPORTED for a class that this library does not know. Cost: the length of the value.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_keyer_add(twpa_keyer *keyer, const twpa_value *value);

/**
 * Ends a key.
 *
 * @param[in] keyer  a keyer that has been begun
 * @param[out] key   the key; untouched unless the result is #TWPA_OK
 * @return #TWPA_OK; #TWPA_NONE if a column was NULL and NULLs are distinct: such a value conflicts with nothing;
 *         #TWPA_E_INVAL for a NULL pointer. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_keyer_end(const twpa_keyer *keyer, twpa_key *key);

/**
 * Makes a key in one call: twpa_keyer_begin(), twpa_keyer_add() for each value, twpa_keyer_end().
 *
 * @param[out] key      the key; untouched unless the result is #TWPA_OK
 * @param[in] seed      as for twpa_keyer_begin()
 * @param[in] relation  as for twpa_keyer_begin()
 * @param[in] index     as for twpa_keyer_begin()
 * @param[in] flags     as for twpa_keyer_begin()
 * @param[in] values    the values in the order of the index
 * @param[in] nvalues   how many
 * @return what those functions return
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_key_of(twpa_key *key, uint64_t seed, uint64_t relation, uint64_t index,
                                                uint32_t flags, const twpa_value *values, size_t nvalues);

TWPA_END_DECLS
/** @} */
#endif
