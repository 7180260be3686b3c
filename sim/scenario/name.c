/*
 * name.c - see name.h.
 */
#include "sim/scenario/name.h"

#include <stdio.h>
#include <string.h>

#define MOST_RANGES 8
#define MOST_DIGITS 9
#define LONGEST     255 /* NAME_MAX */

struct range {
	const char *begin, *end; /* '{', and behind '}' */
	uint64_t first, last;
	int width; /* least number of digits */
};

struct pattern {
	struct range ranges[MOST_RANGES];
	size_t nr;
	uint64_t count;
	size_t longest; /* bytes of the longest name */
};

static bool fail(struct name_error *error, const char *why)
{
	snprintf(error->text, sizeof(error->text), "%s", why);
	return false;
}

static size_t digits(const char *s)
{
	return strspn(s, "0123456789");
}

static uint64_t number(const char *s, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value = value * 10 + (uint64_t)(s[i] - '0');
	return value;
}

static bool parse_range(const char *s, struct range *r, struct name_error *error)
{
	size_t n = digits(s + 1), m;
	const char *dots = s + 1 + n, *last = dots + 2;

	if (!strchr(s, '}'))
		return fail(error, "has a range that is not closed: write {1..50}");
	if (!n || strncmp(dots, "..", 2))
		return fail(error, "has a range that is none: write {1..50}");
	m = digits(last);
	if (!m || last[m] != '}')
		return fail(error, "has a range that is none: write {1..50}");
	if (n > MOST_DIGITS || m > MOST_DIGITS)
		return fail(error, "has a range that is too large: at most 1000000 names");
	*r = (struct range){ s, last + m + 1, number(s + 1, n), number(last, m), 0 };
	if ((s[1] == '0' && n > 1) || (last[0] == '0' && m > 1))
		r->width = (int)(n > m ? n : m);
	if (r->first > r->last)
		return fail(error, "has a range that runs backwards");
	return true;
}

static bool parse(const char *text, struct pattern *p, struct name_error *error)
{
	*p = (struct pattern){ .count = 1, .longest = strlen(text) };
	for (const char *s = text; *s;) {
		struct range *r = &p->ranges[p->nr];

		if (*s == '}')
			return fail(error, "has a '}' without its '{'");
		if (*s != '{') {
			s++;
			continue;
		}
		if (p->nr == MOST_RANGES)
			return fail(error, "has more than 8 ranges");
		if (!parse_range(s, r, error))
			return false;
		p->count *= r->last - r->first + 1;
		if (p->count > NAME_MOST)
			return fail(error, "stands for too many names: at most 1000000");
		p->longest -= (size_t)(r->end - r->begin);
		p->longest += r->width ? (size_t)r->width : digits(strstr(r->begin, "..") + 2);
		p->nr++;
		s = r->end;
	}
	return true;
}

bool name_check(const char *pattern, struct name_error *error)
{
	struct pattern p;

	if (!*pattern)
		return fail(error, "is empty: a name is needed");
	if (!strcmp(pattern, ".") || !strcmp(pattern, ".."))
		return fail(error, "cannot be a name");
	for (const char *s = pattern; *s; s++) {
		if (*s == '/')
			return fail(error, "has a '/': a name is one level of a path");
		if ((unsigned char)*s < ' ')
			return fail(error, "has a control character");
	}
	if (!parse(pattern, &p, error))
		return false;
	return p.longest <= LONGEST || fail(error, "is longer than 255 bytes");
}

uint64_t name_count(const char *pattern)
{
	struct name_error error;
	struct pattern p;

	return parse(pattern, &p, &error) ? p.count : 0;
}

const char *const *name_expand(struct pool *pool, const char *pattern)
{
	struct name_error error;
	struct pattern p;
	const char **names;

	if (!name_check(pattern, &error) || !parse(pattern, &p, &error))
		return NULL;
	names = pool_alloc(pool, p.count * sizeof(*names));
	for (uint64_t i = 0; i < p.count; i++) {
		uint64_t value[MOST_RANGES] = { 0 }, rest = i;
		char text[LONGEST + 1];
		const char *from = pattern;
		size_t length = 0;

		for (size_t r = p.nr; r-- > 0;) {
			uint64_t size = p.ranges[r].last - p.ranges[r].first + 1;

			value[r] = p.ranges[r].first + rest % size;
			rest /= size;
		}
		for (size_t r = 0; r < p.nr; r++) {
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%.*s%0*llu",
						   (int)(p.ranges[r].begin - from), from, p.ranges[r].width,
						   (unsigned long long)value[r]);
			from = p.ranges[r].end;
		}
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", from);
		names[i] = pool_text(pool, text, length);
	}
	return names;
}
