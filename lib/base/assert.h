/*
 * Assertions in two levels, independent of NDEBUG. They state what the library itself guarantees; input of the host
 * never reaches one. Level 1: cheap, local. Level 2: walks over whole structures, for tests and fuzzing.
 */
#ifndef TWPA_BASE_ASSERT_H
#define TWPA_BASE_ASSERT_H

#ifndef TWPA_ASSERT_LEVEL
#define TWPA_ASSERT_LEVEL 0
#endif

#if TWPA_ASSERT_LEVEL >= 1
#define TWPA__ASSERT(cond) ((cond) ? (void)0 : twpa__assert_failed(#cond, __FILE__, __LINE__))
#else
#define TWPA__ASSERT(cond) ((void)sizeof(!!(cond)))
#endif

#if TWPA_ASSERT_LEVEL >= 2
#define TWPA__VERIFY(cond) TWPA__ASSERT(cond)
#else
#define TWPA__VERIFY(cond) ((void)sizeof(!!(cond)))
#endif

#define TWPA__STATIC_ASSERT(cond, text) _Static_assert(cond, text)

/* Stops the program at a broken promise of the library; exists only where assertions are on. */
#if TWPA_ASSERT_LEVEL >= 1
_Noreturn void twpa__assert_failed(const char *cond, const char *file, int line);
#endif

#endif
