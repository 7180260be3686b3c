/*
 * test_document.c - YAML text to trees: places, edits, and what is refused.
 */
#include "tests/language.h"

#include "sim/scenario/document.h"
#include "sim/scenario/emit.h"

struct reading {
	struct complaints *c;
	struct reader reader;
};

static int setup(void **state)
{
	struct reading *r = xcalloc(1, sizeof(*r));

	r->c = complaints_new();
	r->reader = (struct reader){ .pool = pool_new(), .complaints = r->c };
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct reading *r = *state;

	pool_free(r->reader.pool);
	complaints_free(r->c);
	free(r);
	return 0;
}

static const struct node *parse(struct reading *r, const char *text)
{
	return document_parse(&r->reader, (struct where){ "f", 1, 1 }, text, strlen(text));
}

static void check_place(const struct node *node, uint32_t line, uint32_t column)
{
	assert_non_null(node);
	assert_string_equal(node->at.file, "f");
	assert_int_equal(node->at.line, line);
	assert_int_equal(node->at.column, column);
}

static void places(void **state)
{
	struct reading *r = *state;
	const struct node *root = parse(r, "a: 1\nb:\n  - x\n  - {c: 'é', d: e}\n"), *inner;

	assert_non_null(root);
	check_place(node_get(root, "a"), 1, 4);
	assert_string_equal(node_get(root, "a")->text, "1");
	assert_int_equal(node_get(root, "b")->nr, 2);
	check_place(node_get(root, "b")->entries[0].value, 3, 5);
	inner = node_get(root, "b")->entries[1].value;
	check_place(inner, 4, 5);
	assert_true(node_get(inner, "c")->quoted);
	check_place(node_get(inner, "d"), 4, 17);
	assert_int_equal(node_entry(inner, "d")->at.column, 14);
	assert_null(node_get(root, "c"));
	assert_int_equal(root->size, 7);
	assert_int_equal(root->height, 3);
}

/* An edit makes a new tree; the old one, and what they share, stays as it is. */
static void edits(void **state)
{
	struct reading *r = *state;
	struct pool *pool = r->reader.pool;
	const struct node *root = parse(r, "a: 1\nb: [x, y]\n");
	const struct node *two = node_scalar(pool, root->at, "2");
	const struct node *changed = node_with(pool, root, "a", root->at, two);
	const struct node *more = node_with(pool, changed, "c", root->at, two);
	const struct node *list = node_replace(pool, node_get(root, "b"), 1, two);

	assert_string_equal(node_get(root, "a")->text, "1");
	assert_string_equal(node_get(changed, "a")->text, "2");
	assert_ptr_equal(node_get(changed, "b"), node_get(root, "b"));
	assert_int_equal(changed->nr, 2);
	assert_int_equal(more->nr, 3);
	assert_string_equal(more->entries[2].key, "c");
	assert_string_equal(list->entries[1].value->text, "2");
	assert_string_equal(node_get(root, "b")->entries[1].value->text, "y");
	assert_int_equal(node_without(pool, more, "a")->nr, 2);
	assert_null(node_get(node_without(pool, more, "a"), "a"));
	assert_ptr_equal(node_without(pool, more, "zzz"), more);
}

static void aliases(void **state)
{
	struct reading *r = *state;
	const struct node *root = parse(r, "a: &x {k: [1, 2]}\nb: *x\nc: [*x, *x]\n");

	assert_non_null(root);
	assert_ptr_equal(node_get(root, "a"), node_get(root, "b"));
	assert_int_equal(node_get(root, "a")->size, 4);
	assert_int_equal(root->size, 1 + 4 + 4 + 9);
}

static void check_refused(struct reading *r, const char *text, const char *expected)
{
	struct complaints *c = complaints_new();
	struct reader reader = { .pool = r->reader.pool, .complaints = c };
	const struct where start = { "f", 1, 1 };
	const struct node *root = NULL;
	char *printed;

	if (document_check_text(c, "f", text, strlen(text)))
		root = document_parse(&reader, start, text, strlen(text));
	printed = t_printed(c);
	assert_string_equal(printed, expected);
	if (complaints_count(c) && strcmp(expected, "") && !strstr(expected, "stands already") &&
	    !strstr(expected, "tags"))
		assert_null(root);
	free(printed);
	complaints_free(c);
}

static void refused(void **state)
{
	struct reading *r = *state;

	check_refused(r, "", "f:1:1: nothing is written here\n");
	check_refused(r, "# only\n", "f:1:1: nothing is written here\n");
	check_refused(r, "a: 1\na: 2\nb: 1\na: 3\n",
		      "f:2:1: key 'a' stands already in line 1\n"
		      "f:4:1: key 'a' stands already in line 2\n");
	check_refused(r, "a:\n\tb: 1\n", "f:2:1: a tab cannot indent: use spaces\n");
	check_refused(r, "a: [1\n",
		      "f:2:1: did not find expected ',' or ']' (while parsing a flow sequence that "
		      "begins in line 1)\n");
	check_refused(r, "a: 1\n--- \nb: 1\n", "f:2:1: a second document: a scenario is one\n");
	check_refused(r, "[a]: 1\n", "f:1:1: a list cannot be a key\n");
	check_refused(r, "a: *b\n", "f:1:4: alias '*b' names nothing above\n");
	check_refused(r, "a: &x [1, *x]\n", "f:1:11: alias '*x' stands inside of what it names\n");
	check_refused(r, "a: !!int 1\n", "f:1:4: tag 'tag:yaml.org,2002:int': scenarios have no tags\n");
	check_refused(r, "a: caf\xe9\n", "f:1:7: byte 0xe9: the file is not UTF-8 text\n");
	check_refused(r, "a: \xc0\x80\n", "f:1:4: byte 0xc0: the file is not UTF-8 text\n");
	check_refused(r, "a: \xed\xa0\x80\n", "f:1:4: byte 0xed: the file is not UTF-8 text\n");
	check_refused(r, "a: \xc3", "f:1:4: byte 0xc3: the file is not UTF-8 text\n");
	check_refused(r, "a: \x1b[0m\n", "f:1:4: control character 0x1b: the file is not text\n");
	check_refused(r, "a: \"x\\0y\"\n", "f:1:4: a text with a NUL character\n");
	check_refused(r,
		      "\xef\xbb\xbf"
		      "a: 1\n",
		      "");
}

static char *repeated(const char *head, const char *piece, size_t times)
{
	size_t length = strlen(head), step = strlen(piece);
	char *text = xcalloc(length + step * times + 1, 1);

	memcpy(text, head, length);
	for (size_t i = 0; i < times; i++)
		memcpy(text + length + i * step, piece, step);
	return text;
}

static void bounds(void **state)
{
	struct reading *r = *state;
	char *deep = repeated("a: ", "[", 20000), *just = repeated("a: ", "[", 63);
	char *long_just = xcalloc(200, 1), *anchors = xcalloc(300, 12);

	check_refused(r, deep, "f:1:67: deeper than 64 levels\n");
	snprintf(long_just, 200, "%s%s", just,
		 "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
	check_refused(r, long_just, "");
	for (int i = 0; i < 300; i++)
		sprintf(anchors + strlen(anchors), "k%d: &a%d\n", i, i);
	check_refused(r, anchors, "f:257:7: more than 256 anchors\n");
	check_refused(r,
		      "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
		      "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
		      "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
		      "f:6:32: more than 1000000 values when aliases are written out\n");
	free(deep);
	free(just);
	free(long_just);
	free(anchors);
}

/* Aliases cannot get around the bound on depth either. */
static void deep_alias(void **state)
{
	struct reading *r = *state;
	char text[400], *nested = repeated("a: &x ", "[", 40);

	snprintf(text, sizeof(text),
		 "%s%s\nb: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[*x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n", nested,
		 "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
	check_refused(r, text, "f:2:34: deeper than 64 levels when aliases are written out\n");
	free(nested);
}

static void emitted(void **state)
{
	struct reading *r = *state;
	const struct node *root = parse(r,
					"a: '64'\nb: [x, {c: \"two\\nlines\", 'd: e': '#'}]\ne: {}\nf: []\n"
					"g: |\n  block\n  text\nh: ''\ni: 'true'\n");
	const char *text = emit_yaml(r->reader.pool, root);
	const struct node *again = parse(r, text);

	assert_non_null(again);
	assert_string_equal(emit_yaml(r->reader.pool, again), text);
	assert_string_equal(node_get(again, "a")->text, "64");
	assert_true(node_get(again, "a")->quoted);
	assert_string_equal(node_get(again, "g")->text, "block\ntext\n");
	assert_string_equal(node_get(node_get(again, "b")->entries[1].value, "c")->text, "two\nlines");
	assert_string_equal(node_get(node_get(again, "b")->entries[1].value, "d: e")->text, "#");
	assert_int_equal(node_get(again, "e")->kind, NODE_MAP);
	assert_string_equal(node_get(again, "h")->text, "");
}

static void json(void **state)
{
	struct reading *r = *state;
	const struct node *root = parse(
		r, "{a: 1, b: -2.5, c: 007, d: \"8\", e: [x, \"q\\\"\\\\\"], f: 1e3, g: .5}");
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	emit_json(out, root);
	fclose(out);
	assert_string_equal(
		text, "{\"a\": 1, \"b\": -2.5, \"c\": \"007\", \"d\": \"8\", \"e\": [\"x\", \"q\\\"\\\\\"], "
		      "\"f\": \"1e3\", \"g\": \".5\"}");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places, setup, teardown),
		cmocka_unit_test_setup_teardown(edits, setup, teardown),
		cmocka_unit_test_setup_teardown(aliases, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(deep_alias, setup, teardown),
		cmocka_unit_test_setup_teardown(emitted, setup, teardown),
		cmocka_unit_test_setup_teardown(json, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
