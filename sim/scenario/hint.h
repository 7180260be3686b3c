/*
 * hint.h - "did you mean": the known name nearest to one that is unknown.
 *
 *	struct hint hint = hint_for("memroy");
 *	for (...) hint_offer(&hint, known[i]);
 *	hint_text(&hint, buf);
 */
#ifndef SIM_SCENARIO_HINT_H
#define SIM_SCENARIO_HINT_H

struct hint {
	const char *word, *best;
	unsigned distance; /* of best */
	char known[240];   /* what was offered, as far as there is room */
};

struct hint hint_for(const char *word);
void hint_offer(struct hint *hint, const char *known);
/* "; did you mean 'memory'?", or "; known: cpus, memory": fits any message's end. Written into buf. */
#define HINT_TEXT 280
const char *hint_text(const struct hint *hint, char buf[HINT_TEXT]);

/* Insertions, deletions, replacements and swaps of neighbours, whatever the case of letters. */
unsigned edit_distance(const char *a, const char *b);

#endif
