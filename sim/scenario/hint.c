/*
 * hint.c - edit distance with swaps of neighbours ("optimal string alignment").
 *
 * Swaps count as one mistake because they are the most frequent slip of the fingers: "memroy". A name is
 * near when at most a third of the word is wrong: "nope" should not be answered with "mode".
 */
#include "sim/scenario/hint.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LONGEST 64 /* longer words are compared by their beginnings */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int letter(const char *s, size_t i)
{
	return tolower((unsigned char)s[i]);
}

unsigned edit_distance(const char *a, const char *b)
{
	size_t na = strnlen(a, LONGEST), nb = strnlen(b, LONGEST);
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2];

	memset(rows, 0, sizeof(rows));
	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *oldest = before;

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned wrong = letter(a, i - 1) != letter(b, j - 1);

			now[j] = least(last[j - 1] + wrong, least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && letter(a, i - 1) == letter(b, j - 2) &&
			    letter(a, i - 2) == letter(b, j - 1))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = oldest;
	}
	return last[nb];
}

struct hint hint_for(const char *word)
{
	return (struct hint){ .word = word };
}

static void add_known(struct hint *hint, const char *known)
{
	static const char more[] = ", ...";
	size_t length = strlen(hint->known), room = sizeof(hint->known) - sizeof(more) - length;

	if (length >= sizeof(more) && !strcmp(hint->known + length - sizeof(more) + 1, more))
		return;
	if (strlen(known) + 2 > room)
		strcpy(hint->known + length, more);
	else
		snprintf(hint->known + length, room, "%s%s", length ? ", " : "", known);
}

void hint_offer(struct hint *hint, const char *known)
{
	size_t length = strlen(hint->word);
	unsigned distance = edit_distance(hint->word, known);
	unsigned most = length < 6 ? 1 : least((unsigned)length / 3, LONGEST / 3);

	add_known(hint, known);
	/* The beginning of a name is a good guess at it, but a worse one than a slip. */
	if (distance > most && length >= 3 && !strncasecmp(hint->word, known, length))
		distance = most;
	if (distance <= most && (!hint->best || distance < hint->distance)) {
		hint->best = known;
		hint->distance = distance;
	}
}

const char *hint_text(const struct hint *hint, char buf[HINT_TEXT])
{
	buf[0] = '\0';
	if (hint->best)
		snprintf(buf, HINT_TEXT, "; did you mean '%.90s'?", hint->best);
	else if (hint->known[0])
		snprintf(buf, HINT_TEXT, "; known: %s", hint->known);
	return buf;
}
