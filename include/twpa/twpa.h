/**
 * @file twpa.h
 * All of libtwpa.
 */
#ifndef TWPA_TWPA_H
#define TWPA_TWPA_H

#include <twpa/types.h>
#include <twpa/status.h>
#include <twpa/version.h>
#include <twpa/change.h>
#include <twpa/txn.h>
#include <twpa/output.h>
#include <twpa/storage.h>
#include <twpa/reorder.h>

#endif
