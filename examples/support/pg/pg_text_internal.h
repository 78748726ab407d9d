/* Parts of pg_text. Each takes the plain bytes of a value and says no if they are not one. */
#ifndef SUPPORT_PG_TEXT_INTERNAL_H
#define SUPPORT_PG_TEXT_INTERNAL_H

#include "support/pg/pg_text.h"

void pg_text_float4(pg_buf *out, float value);
void pg_text_float8(pg_buf *out, double value);
bool pg_text_numeric(pg_buf *out, const uint8_t *p, size_t len);

void pg_text_date(pg_buf *out, int32_t days);
void pg_text_timestamp(pg_buf *out, int64_t us, const char *zone); /* zone "" or "+00" */
void pg_text_time(pg_buf *out, int64_t us);
void pg_text_timetz(pg_buf *out, int64_t us, int32_t west);
void pg_text_interval(pg_buf *out, int64_t us, int32_t days, int32_t months);

bool pg_text_jsonb(pg_buf *out, const uint8_t *p, size_t len);

#endif
