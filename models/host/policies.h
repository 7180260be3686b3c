/*
 * policies.h - what the modules of charge_batch and charge_stock hold.
 */
#ifndef MODELS_HOST_POLICIES_H
#define MODELS_HOST_POLICIES_H

#include <stdint.h>

struct charge_constant { /* .ops */
	uint32_t value;
};

#endif
