/*
 * document.c - from libyaml's events to a tree.
 *
 * Events rather than libyaml's own documents, because those keep neither the order of mistakes nor the
 * anchors, and because a file is to be given up at the first level too deep, not after it was read.
 */
#include "sim/scenario/document.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "sim/engine/xalloc.h"

#define MOST_ANCHORS 256

struct frame { /* a map or list that is not closed yet */
	struct node *node;
	struct entry *entries;
	size_t room;
	bool has_key; /* of a map: the last entry waits for its value */
};

struct anchor {
	const char *name;
	const struct node *node;
};

struct builder {
	struct reader *reader;
	struct where start;
	struct frame frames[DOCUMENT_DEPTH];
	unsigned depth;
	struct anchor anchors[MOST_ANCHORS];
	size_t nr_anchors;
	const struct node *root;
	bool tagged; /* said once a file */
};

static struct where place(const struct builder *b, const yaml_mark_t *mark)
{
	struct where at = { b->start.file, b->start.line + (uint32_t)mark->line, 1 + (uint32_t)mark->column };

	if (!mark->line)
		at.column += b->start.column - 1;
	return at;
}

static struct node *new_node(struct builder *b, enum node_kind kind, const yaml_mark_t *mark)
{
	struct node *node = pool_alloc(b->reader->pool, sizeof(*node));

	*node = (struct node){ .kind = kind, .at = place(b, mark), .size = 1, .height = kind != NODE_SCALAR };
	return node;
}

static bool add_entry(struct builder *b, struct frame *f, struct entry entry)
{
	if (f->node->nr == f->room) {
		f->room = f->room ? 2 * f->room : 8;
		f->entries = xreallocarray(f->entries, f->room, sizeof(*f->entries));
	}
	f->entries[f->node->nr++] = entry;
	if (++b->reader->nodes <= DOCUMENT_NODES)
		return true;
	complain(b->reader->complaints, entry.at, "more than %zu values", DOCUMENT_NODES);
	return false;
}

static bool add_key(struct builder *b, struct frame *f, const struct node *node)
{
	if (node->kind != NODE_SCALAR) {
		complain(b->reader->complaints, node->at, "%s cannot be a key", node_kind_name(node));
		return false;
	}
	f->has_key = true;
	return add_entry(b, f, (struct entry){ .key = node->text, .at = node->at });
}

/* Puts a finished node where it belongs; `at` is where it is used, which for an alias is not where it is. */
static bool add_node(struct builder *b, const struct node *node, struct where at)
{
	struct frame *f;

	if (!b->depth) {
		b->root = node;
		return true;
	}
	f = &b->frames[b->depth - 1];
	if (f->node->kind == NODE_MAP && !f->has_key)
		return add_key(b, f, node);
	f->node->size += node->size;
	if (f->node->height <= node->height)
		f->node->height = node->height + 1;
	if (f->node->size > DOCUMENT_NODES || b->depth + node->height > DOCUMENT_DEPTH) {
		complain(b->reader->complaints, at,
			 f->node->size > DOCUMENT_NODES
				 ? "more than %zu values when aliases are written out"
				 : "deeper than %zu levels when aliases are written out",
			 f->node->size > DOCUMENT_NODES ? DOCUMENT_NODES : (size_t)DOCUMENT_DEPTH);
		return false;
	}
	if (f->node->kind == NODE_LIST)
		return add_entry(b, f, (struct entry){ .at = at, .value = node });
	f->has_key = false;
	f->entries[f->node->nr - 1].value = node;
	return true;
}

static bool add_anchor(struct builder *b, const yaml_char_t *name, const struct node *node)
{
	const char *text = (const char *)name;

	if (!text)
		return true;
	if (b->nr_anchors == MOST_ANCHORS) {
		complain(b->reader->complaints, node->at, "more than %d anchors", MOST_ANCHORS);
		return false;
	}
	b->anchors[b->nr_anchors++] = (struct anchor){ pool_text(b->reader->pool, text, strlen(text)), node };
	return true;
}

/* A map or list that is not closed holds itself if an alias in it names it. */
static bool is_open(const struct builder *b, const struct node *node)
{
	for (unsigned i = 0; i < b->depth; i++) {
		if (b->frames[i].node == node)
			return true;
	}
	return false;
}

static bool add_alias(struct builder *b, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct where at = place(b, &event->start_mark);

	for (size_t i = b->nr_anchors; i-- > 0;) { /* the latest of a name counts */
		if (strcmp(b->anchors[i].name, name))
			continue;
		if (is_open(b, b->anchors[i].node)) {
			complain(b->reader->complaints, at, "alias '*%s' stands inside of what it names",
				 name);
			return false;
		}
		return add_node(b, b->anchors[i].node, at);
	}
	complain(b->reader->complaints, at, "alias '*%s' names nothing above", name);
	return false;
}

static void check_tag(struct builder *b, const yaml_char_t *tag, const yaml_mark_t *mark)
{
	if (!tag || b->tagged)
		return;
	b->tagged = true;
	complain(b->reader->complaints, place(b, mark), "tag '%s': scenarios have no tags",
		 (const char *)tag);
}

static bool open_frame(struct builder *b, enum node_kind kind, const yaml_event_t *event)
{
	bool map = kind == NODE_MAP;

	if (b->depth == DOCUMENT_DEPTH) {
		complain(b->reader->complaints, place(b, &event->start_mark), "deeper than %d levels",
			 DOCUMENT_DEPTH);
		return false;
	}
	check_tag(b, map ? event->data.mapping_start.tag : event->data.sequence_start.tag,
		  &event->start_mark);
	b->frames[b->depth] = (struct frame){ .node = new_node(b, kind, &event->start_mark) };
	b->depth++;
	return add_anchor(b, map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
			  b->frames[b->depth - 1].node);
}

static int compare_keys(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	return (x->at.column > y->at.column) - (x->at.column < y->at.column);
}

static void check_duplicates(struct builder *b, const struct frame *f)
{
	struct entry *sorted = xcalloc(f->node->nr, sizeof(*sorted));

	if (f->node->nr)
		memcpy(sorted, f->entries, f->node->nr * sizeof(*sorted));
	qsort(sorted, f->node->nr, sizeof(*sorted), compare_keys);
	for (size_t i = 1; i < f->node->nr; i++) {
		if (!strcmp(sorted[i - 1].key, sorted[i].key))
			complain(b->reader->complaints, sorted[i].at, "key '%s' stands already in line %u",
				 sorted[i].key, sorted[i - 1].at.line);
	}
	free(sorted);
}

static bool close_frame(struct builder *b)
{
	struct frame *f = &b->frames[--b->depth];
	struct entry *entries = pool_alloc(b->reader->pool, f->node->nr * sizeof(*entries));

	if (f->node->nr)
		memcpy(entries, f->entries, f->node->nr * sizeof(*entries));
	f->node->entries = entries;
	if (f->node->kind == NODE_MAP)
		check_duplicates(b, f);
	free(f->entries);
	return add_node(b, f->node, f->node->at);
}

static bool add_scalar(struct builder *b, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	struct node *node = new_node(b, NODE_SCALAR, &event->start_mark);

	check_tag(b, event->data.scalar.tag, &event->start_mark);
	if (strlen(text) != event->data.scalar.length) {
		complain(b->reader->complaints, node->at, "a text with a NUL character");
		return false;
	}
	node->text = pool_text(b->reader->pool, text, event->data.scalar.length);
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return add_anchor(b, event->data.scalar.anchor, node) && add_node(b, node, node->at);
}

static bool handle(struct builder *b, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->root) {
			complain(b->reader->complaints, place(b, &event->start_mark),
				 "a second document: a scenario is one");
			return false;
		}
		return true;
	case YAML_ALIAS_EVENT:
		return add_alias(b, event);
	case YAML_SCALAR_EVENT:
		return add_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_frame(b, NODE_LIST, event);
	case YAML_MAPPING_START_EVENT:
		return open_frame(b, NODE_MAP, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_frame(b);
	default:
		return true;
	}
}

static bool indented_by_tab(const char *text, size_t length, size_t line)
{
	const char *end = text + length;

	for (; text && line; line--) {
		text = memchr(text, '\n', (size_t)(end - text));
		text = text ? text + 1 : NULL;
	}
	while (text && text < end && *text == ' ')
		text++;
	return text && text < end && *text == '\t';
}

static void syntax_error(struct builder *b, const yaml_parser_t *parser, const char *text, size_t length)
{
	struct where at = place(b, &parser->problem_mark);

	if (indented_by_tab(text, length, parser->problem_mark.line))
		complain(b->reader->complaints, at, "a tab cannot indent: use spaces");
	else if (parser->context)
		complain(b->reader->complaints, at, "%s (%s that begins in line %u)", parser->problem,
			 parser->context, place(b, &parser->context_mark).line);
	else
		complain(b->reader->complaints, at, "%s", parser->problem ? parser->problem : "not YAML");
}

static const struct node *whole(struct builder *b)
{
	if (!b->root) {
		complain(b->reader->complaints, b->start, "nothing is written here");
		return NULL;
	}
	b->reader->written_out += b->root->size;
	if (b->reader->written_out <= DOCUMENT_NODES)
		return b->root;
	complain(b->reader->complaints, b->start, "more than %zu values in all files", DOCUMENT_NODES);
	return NULL;
}

const struct node *document_parse(struct reader *reader, struct where start, const char *text, size_t length)
{
	struct builder b = { .reader = reader, .start = start };
	bool good = true, end = false;
	yaml_parser_t parser;
	yaml_event_t event;

	xalloc_checked(yaml_parser_initialize(&parser) ? &parser : NULL);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	while (good && !end) {
		if (!yaml_parser_parse(&parser, &event)) {
			syntax_error(&b, &parser, text, length);
			good = false;
			break;
		}
		end = event.type == YAML_STREAM_END_EVENT;
		good = handle(&b, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	while (b.depth)
		free(b.frames[--b.depth].entries);
	return good ? whole(&b) : NULL;
}
