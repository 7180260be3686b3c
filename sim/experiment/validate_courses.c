/*
 * validate_courses.c - rows of a system that may take several courses.
 *
 * What decides between them is chance where it was measured: the place of a mapping, a page of kernel memory,
 * a context switch. A row names the variants that are the other courses (`or_variant`). "a + b" is a
 * measurement that was a mean of both, "a + a + b" one of three.
 *
 * All rows of one run are judged by the same course: that which most of them are in with, and by the first,
 * which is the prediction, as long as no other has more. So a course is chosen once for a run, and not number
 * by number.
 */
#include <string.h>

#include "sim/experiment/validate.h"

size_t validate_nr_courses(const struct validate_row *row)
{
	return 1 + row->or_variant.nr;
}

const char *validate_course(const struct validate_row *row, size_t course)
{
	return course ? row->or_variant.items[course - 1] : row->variant;
}

uint32_t validate_course_parts(const char *course)
{
	uint32_t nr = 1;

	while ((course = strstr(course, " + "))) {
		course += 3;
		nr++;
	}
	return nr;
}

uint32_t validate_course_has(const char *course, const char *variant)
{
	size_t length = strlen(variant);
	uint32_t times = 0;

	for (;;) {
		const char *end = strstr(course, " + ");
		size_t part = end ? (size_t)(end - course) : strlen(course);

		times += part == length && !strncmp(course, variant, length);
		if (!end)
			return times;
		course = end + 3;
	}
}

bool validate_same_run(const struct validate_row *a, const struct validate_row *b)
{
	if (a->or_variant.nr != b->or_variant.nr || !a->variant != !b->variant ||
	    (a->variant && strcmp(a->variant, b->variant) != 0))
		return false;
	for (size_t i = 1; i < validate_nr_courses(a); i++)
		if (strcmp(validate_course(a, i), validate_course(b, i)) != 0)
			return false;
	return true;
}

size_t validate_choose(const uint32_t *nr_in, size_t nr_courses)
{
	size_t best = 0;

	for (size_t i = 1; i < nr_courses; i++)
		if (nr_in[i] > nr_in[best])
			best = i;
	return best;
}
