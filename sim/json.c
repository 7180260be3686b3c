/*
 * json.c - writing JSON text. Arguments and names of entities are bytes of anybody's making, and a single
 * byte outside UTF-8 would make a whole document unreadable for strict parsers: it is replaced.
 */
#include "sim/json.h"

#include <math.h>

/* Length of the UTF-8 sequence at s, 0 if there is none. Overlong forms and surrogates do not count. */
static int sequence(const unsigned char *s)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int point;
	int length;

	if (s[0] < 0x80)
		return 1;
	length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
	if (s[0] < 0xC0 || s[0] >= 0xF8)
		return 0;
	point = s[0] & (0x7Fu >> length);
	for (int i = 1; i < length; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
		point = point << 6 | (s[i] & 0x3Fu);
	}
	if (point < least[length] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
		return 0;
	return length;
}

void json_string(FILE *out, const char *s)
{
	if (!s) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	while (*s) {
		int length = sequence((const unsigned char *)s);

		if (!length) {
			fputs("\\ufffd", out);
			length = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(out, "\\%c", *s);
		} else if (*s == '\n') {
			fputs("\\n", out);
		} else if ((unsigned char)*s < 0x20) {
			fprintf(out, "\\u%04x", (unsigned int)*s);
		} else {
			fwrite(s, 1, (size_t)length, out);
		}
		s += length;
	}
	putc('"', out);
}

void json_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.15g", value);
	else
		fputs("null", out);
}
