/*
 * provenance.h - what made a result: program, arguments, compiler, machine, libraries.
 */
#ifndef SIM_RESULTS_PROVENANCE_H
#define SIM_RESULTS_PROVENANCE_H

/* "0.1.0" */
const char *program_version(void);
/* "0.1.0 (commit 7eece9cb39a5)", on the heap */
char *program_version_text(void);
/* A JSON object on the heap, for run.provenance. */
char *provenance_json(int argc, char *const *argv);

#endif
