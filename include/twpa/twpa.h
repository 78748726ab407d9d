/**
 * @file twpa.h
 * All of libtwpa.
 */
#ifndef TWPA_TWPA_H
#define TWPA_TWPA_H

#include <twpa/types.h>
#include <twpa/status.h>
#include <twpa/version.h>
#include <twpa/progress.h>
#include <twpa/simulate.h>
#include <twpa/scheduler.h>

#include <twpa/key.h>
#include <twpa/relation.h>
#include <twpa/access_set.h>
#include <twpa/plan.h>
#include <twpa/change.h>
#include <twpa/txn.h>
#include <twpa/output.h>
#include <twpa/storage.h>
#include <twpa/file_spill.h>
#include <twpa/reorder.h>

#endif
