/*
 * utf8.c - is this a text file at all?
 *
 * libyaml refuses most of what is refused here, but only says how many bytes it had read. A user who
 * saved a file as Latin-1 needs the line.
 */
#include <stdint.h>

#include "sim/scenario/document.h"

/* Length of the character at s, or 0 if there is no well-formed one (RFC 3629). */
static size_t character(const unsigned char *s, size_t left, uint32_t *code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = s[0] < 0x80   ? 1
			: s[0] < 0xc2 ? 0
			: s[0] < 0xe0 ? 2
			: s[0] < 0xf0 ? 3
			: s[0] < 0xf5 ? 4
				      : 0;

	if (!length || length > left)
		return 0;
	*code = length == 1 ? s[0] : s[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < smallest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

bool document_check_text(struct complaints *c, const char *file, const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;
	struct where at = { file, 1, 1 };

	for (size_t i = 0, n; i < length; i += n) {
		uint32_t code = 0;

		n = character(s + i, length - i, &code);
		if (!n) {
			complain(c, at, "byte 0x%02x: the file is not UTF-8 text", s[i]);
			return false;
		}
		if ((code < ' ' && code != '\t' && code != '\n' && code != '\r') || code == 0x7f ||
		    (code >= 0x80 && code < 0xa0 && code != 0x85) || code == 0xfffe || code == 0xffff) {
			complain(c, at, "control character 0x%02x: the file is not text", code);
			return false;
		}
		at.column++;
		if (code == '\n') {
			at.line++;
			at.column = 1;
		}
	}
	return true;
}
