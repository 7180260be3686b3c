/*
 * pending_check.h - a second pending set, of another kind, that must agree with the first on every event.
 *
 * All functions accept NULL (no checking). A disagreement is a defect of the engine: the process aborts with
 * both entries on standard error.
 */
#ifndef SIM_ENGINE_PENDING_CHECK_H
#define SIM_ENGINE_PENDING_CHECK_H

#include "sim/engine/pending.h"

struct pending_check *pending_check_new(void);
void pending_check_free(struct pending_check *c);
void pending_check_insert(struct pending_check *c, struct pending_entry e);
/* The earliest must be `e`; removes it. */
void pending_check_take(struct pending_check *c, struct pending_entry e);
/* Removes one entry equal to `e` from anywhere. */
void pending_check_remove(struct pending_check *c, struct pending_entry e);

#endif
