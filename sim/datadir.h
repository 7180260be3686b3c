/*
 * datadir.h - where the files that come with the program are.
 *
 * In the source tree scenarios/ and analysis/ lie above build/; installed, they lie in share/memcgsim beside
 * the bin/ folder of the program. Both are found from the program's own place, so a tree can be moved.
 */
#ifndef SIM_DATADIR_H
#define SIM_DATADIR_H

/*
 * The path of "scenarios" or "analysis" (or of a file below one: "scenarios/machines"), or NULL when there is
 * no such thing. The caller frees it.
 */
char *data_path(const char *name);

#endif
