/*
 * emit.c - trees as YAML and JSON.
 *
 * Block YAML is left to libyaml's emitter. Flow YAML is written here, one line at a time and with the quotes
 * of JSON, which YAML contains.
 */
#include "sim/scenario/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "sim/engine/xalloc.h"
#include "sim/json.h"

static bool put(yaml_emitter_t *emitter, int made, yaml_event_t *event)
{
	return made && yaml_emitter_emit(emitter, event);
}

static bool put_scalar(yaml_emitter_t *emitter, const char *text, bool quoted)
{
	yaml_event_t event;

	return put(emitter,
		   yaml_scalar_event_initialize(
			   &event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), !quoted, 1,
			   quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE),
		   &event);
}

static bool put_node(yaml_emitter_t *emitter, const struct node *node)
{
	yaml_event_t event;
	bool map = node->kind == NODE_MAP;

	if (node->kind == NODE_SCALAR)
		return put_scalar(emitter, node->text, node->quoted);
	if (map ? !put(emitter,
		       yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE),
		       &event)
		: !put(emitter,
		       yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE),
		       &event))
		return false;
	for (size_t i = 0; i < node->nr; i++) {
		if (map && !put_scalar(emitter, node->entries[i].key, false))
			return false;
		if (!put_node(emitter, node->entries[i].value))
			return false;
	}
	return put(emitter,
		   map ? yaml_mapping_end_event_initialize(&event)
		       : yaml_sequence_end_event_initialize(&event),
		   &event);
}

static bool put_document(yaml_emitter_t *emitter, const struct node *root)
{
	yaml_event_t event;

	return put(emitter, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event) &&
	       put(emitter, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1), &event) &&
	       put_node(emitter, root) &&
	       put(emitter, yaml_document_end_event_initialize(&event, 1), &event) &&
	       put(emitter, yaml_stream_end_event_initialize(&event), &event);
}

const char *emit_yaml(struct pool *pool, const struct node *root)
{
	yaml_emitter_t emitter;
	char *buffer = NULL;
	size_t length = 0;
	const char *text;
	FILE *out = xalloc_checked(open_memstream(&buffer, &length));

	xalloc_checked(yaml_emitter_initialize(&emitter) ? &emitter : NULL);
	yaml_emitter_set_output_file(&emitter, out);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	/* A tree that was parsed can be written; the emitter fails for want of memory only. */
	xalloc_checked(put_document(&emitter, root) ? &emitter : NULL);
	yaml_emitter_delete(&emitter);
	fclose(out);
	text = pool_text(pool, buffer, length);
	free(buffer);
	return text;
}

void emit_scalar(FILE *out, const char *text)
{
	bool plain = *text && !strchr("-?:,[]{}#&*!|>'\"%@` ~", text[0]) && text[strlen(text) - 1] != ' ';

	for (const char *s = text; *s; s++)
		plain &= (unsigned char)*s >= ' ' && !strchr(",[]{}\"#", *s) &&
			 !(*s == ':' && (!s[1] || s[1] == ' '));
	if (plain)
		fputs(text, out);
	else
		json_string(out, text);
}

/* What separates the JSON from the flow YAML writer is how a text is written. */
static void emit(FILE *out, const struct node *node, void (*text)(FILE *out, const struct node *node),
		 void (*key)(FILE *out, const char *key))
{
	bool map = node->kind == NODE_MAP;

	if (node->kind == NODE_SCALAR) {
		text(out, node);
		return;
	}
	fputc(map ? '{' : '[', out);
	for (size_t i = 0; i < node->nr; i++) {
		if (i)
			fputs(", ", out);
		if (map) {
			key(out, node->entries[i].key);
			fputs(": ", out);
		}
		emit(out, node->entries[i].value, text, key);
	}
	fputc(map ? '}' : ']', out);
}

static void flow_text(FILE *out, const struct node *node)
{
	emit_scalar(out, node->text);
}

void emit_flow(FILE *out, const struct node *node)
{
	emit(out, node, flow_text, emit_scalar);
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)? and no exponent: what a reader will get back unchanged. */
static bool is_json_number(const char *s)
{
	const char *digits = s += *s == '-';

	while (isdigit((unsigned char)*s))
		s++;
	if (s == digits || s - digits > 15 || (*digits == '0' && s - digits > 1))
		return false;
	if (*s == '.' && isdigit((unsigned char)s[1])) {
		for (s++; isdigit((unsigned char)*s); s++)
			;
	}
	return !*s;
}

static void json_text(FILE *out, const struct node *node)
{
	if (!node->quoted && is_json_number(node->text))
		fputs(node->text, out);
	else
		json_string(out, node->text);
}

void emit_json(FILE *out, const struct node *node)
{
	emit(out, node, json_text, json_string);
}
