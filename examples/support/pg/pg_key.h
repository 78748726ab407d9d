/*
 * Equality classes of columns (twpa/key.h), out of the catalogs: what the planner may hash of a key.
 *
 * A class is given only where "equal for PostgreSQL implies equal canonical form" is certain: for the types that come with
 * PostgreSQL, text under deterministic collations, enums. It must hold in every unique index of the relation, so one index
 * under a collation of its own, or of an operator class that is not the type's, takes the class away from the column.
 *
 * Types that PostgreSQL converts into each other without being asked may meet in a foreign key. So either their classes
 * agree in the canonical form, or at least one of the two has none: name and "char" (to text) and macaddr8 (to macaddr)
 * have none.
 */
#ifndef SUPPORT_PG_KEY_H
#define SUPPORT_PG_KEY_H

#include "support/pg/pg_catalog.h"

#include <twpa/key.h>

/* TWPA_CLASS_* of columns[column]; TWPA_CLASS_UNKNOWN if its equality is not known. */
uint32_t pg_key_class(const pg_relation *relation, size_t column);

/*
 * A value for the planner: NULL, or the bytes of a plain value, borrowed. A compressed or external value is absent: expand
 * it first (pg_value_expand, pg_value_from_toast).
 */
twpa_value pg_key_value(uint32_t cls, const pg_value *value);

#endif
