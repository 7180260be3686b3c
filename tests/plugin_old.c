/*
 * plugin_old.c - a plug-in that was built for another program: what it exports says so, and nothing else of
 * it may be looked at.
 */
#include "sim/module.h"

PLUGIN_ABI(MEMCGSIM_ABI + 1);

MODULE(old) = { .abi = MEMCGSIM_ABI + 1, .kind = NR_MODULE_KINDS };
