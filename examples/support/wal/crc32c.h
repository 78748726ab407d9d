/*
 * CRC-32C (Castagnoli), the checksum of WAL records, of the control file and of most other files of PostgreSQL:
 * reflected polynomial 0x82F63B78, start value and final inversion 0xFFFFFFFF.
 */
#ifndef SUPPORT_WAL_CRC32C_H
#define SUPPORT_WAL_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The checksum of one piece. */
uint32_t crc32c(const void *data, size_t len);

/* The checksum of several pieces: begin with CRC32C_BEGIN, add each piece, invert the state (~state) at the end. */
#define CRC32C_BEGIN UINT32_C(0xFFFFFFFF)
uint32_t crc32c_add(uint32_t state, const void *data, size_t len);

/* The two ways to compute it, for tests: the machine's instruction (if crc32c_has_instruction), and tables. */
bool crc32c_has_instruction(void);
uint32_t crc32c_add_instruction(uint32_t state, const void *data, size_t len);
uint32_t crc32c_add_tables(uint32_t state, const void *data, size_t len);

#endif
