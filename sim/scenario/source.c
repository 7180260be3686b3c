/*
 * source.c - the files of a scenario: itself, what it includes, its kernel and its machine.
 *
 * A file is read to the limit and no further, whatever its size is said to be: it may be a pipe or a device.
 */
#include "sim/scenario/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/engine/xalloc.h"
#include "sim/scenario/bind.h"
#include "sim/scenario/hint.h"
#include "sim/scenario/units.h"

/* A scenario may come from somebody else: it cannot have the program wait for a pipe or a device. */
static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* What some editors write in front of UTF-8 text. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

/* The folder of a path, "" for the current one. */
static const char *folder_of(struct pool *pool, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? pool_text(pool, path, (size_t)(slash + 1 - path)) : "";
}

static const char *join(struct pool *pool, const char *folder, const char *name)
{
	size_t length = strlen(folder);

	return pool_printf(pool, "%s%s%s", folder, length && folder[length - 1] != '/' ? "/" : "", name);
}

/* The i-th folder in which bundles and includes are looked for; NULL behind the last. */
static const char *folder(const struct sources *s, const char *first, size_t i)
{
	if (!i)
		return first;
	if (i <= s->nr_paths)
		return s->paths[i - 1];
	return i == s->nr_paths + 1 ? s->data : NULL;
}

static char *read_all(FILE *in, size_t *length)
{
	char *text = xcalloc(1, DOCUMENT_BYTES + 1);

	*length = fread(text, 1, DOCUMENT_BYTES + 1, in);
	return text;
}

/* Of a file from the future nothing more can be said than that. */
static bool is_newer(struct sources *s, const struct node *root)
{
	const struct node *schema = node_get(root, "schema");
	struct unit_error error;
	uint64_t version;

	if (!schema || schema->kind != NODE_SCALAR ||
	    !unit_integer(OPT_U32, schema->text, &version, &error) ||
	    version <= strtoul(SCHEMA_VERSION, NULL, 10))
		return false;
	complain(s->reader.complaints, schema->at,
		 "schema %.20s is newer than this program, which reads schema %s", schema->text,
		 SCHEMA_VERSION);
	return true;
}

static const struct node *parse(struct sources *s, const char *path, const char *text, size_t length)
{
	struct where start = { path, 1, 1 };
	const struct node *root;

	if (length > DOCUMENT_BYTES) {
		complain(s->reader.complaints, start, "larger than %zu MiB", DOCUMENT_BYTES >> 20);
		return NULL;
	}
	if (length >= strlen(byte_order_mark) && !memcmp(text, byte_order_mark, strlen(byte_order_mark))) {
		text += strlen(byte_order_mark);
		length -= strlen(byte_order_mark);
	}
	if (!document_check_text(s->reader.complaints, path, text, length))
		return NULL;
	root = document_parse(&s->reader, start, text, length);
	if (!root)
		return NULL;
	if (root->kind != NODE_MAP) {
		complain(s->reader.complaints, root->at, "a map of keys is expected, not %s",
			 node_kind_name(root));
		return NULL;
	}
	return is_newer(s, root) ? NULL : root;
}

static const char *find_include(struct sources *s, const char *from, const char *name)
{
	const char *dir;

	if (name[0] == '/')
		return is_file(name) ? name : NULL;
	for (size_t i = 0; (dir = folder(s, from, i)); i++) {
		const char *path = join(s->reader.pool, dir, name);

		if (is_file(path))
			return path;
	}
	return NULL;
}

static const struct node *take_in(struct sources *s, const struct option_table *table, const char *from,
				  const struct node *root)
{
	static const struct option row = { .name = "include", .type = OPT_STRINGS };
	struct binder b = { .pool = s->reader.pool, .complaints = s->reader.complaints, .times = 1 };
	const struct node *include = node_get(root, "include"), *below = NULL;
	struct option_list files = { 0 };
	bool good = true;

	if (!include)
		return root;
	bind_value(&b, &row, root, include, &files);
	for (size_t i = 0; i < files.nr && s->nr_files <= MOST_FILES; i++) {
		const struct node *at = include->kind == NODE_LIST ? include->entries[i].value : include;
		const char *path = find_include(s, folder_of(b.pool, from), files.items[i]);
		const struct node *part = NULL;

		if (path)
			part = source_file(s, table, path);
		else if (at->kind == NODE_SCALAR)
			complain(b.complaints, at->at, "include: there is no file '%.200s'",
				 (char *)files.items[i]);
		good &= part != NULL;
		if (part)
			below = below ? source_merge(b.pool, table, part, below) : part;
	}
	root = node_without(b.pool, root, "include");
	if (below)
		root = source_merge(b.pool, table, root, below);
	return good ? root : NULL;
}

const struct node *source_text(struct sources *s, const struct option_table *table, const char *path,
			       const char *text, size_t length)
{
	const struct node *root = NULL;

	/* Counted whatever becomes of them: a few files could take each other in for ever. */
	if (++s->nr_files > MOST_FILES) {
		complain(s->reader.complaints, (struct where){ path, 1, 1 },
			 "a scenario of more than %d files", MOST_FILES);
		return NULL;
	}
	for (unsigned i = 0; i < s->depth; i++) {
		if (strcmp(s->stack[i], path))
			continue;
		complain(s->reader.complaints, (struct where){ path, 1, 1 }, "the file includes itself%s%s",
			 i + 1 < s->depth ? " through " : "", i + 1 < s->depth ? s->stack[i + 1] : "");
		return NULL;
	}
	if (s->depth == DEEPEST_FILES) {
		complain(s->reader.complaints, (struct where){ path, 1, 1 },
			 "files include each other deeper than %d", DEEPEST_FILES);
		return NULL;
	}
	s->stack[s->depth++] = path;
	root = parse(s, path, text, length);
	if (root)
		root = take_in(s, table, path, root);
	s->depth--;
	return root;
}

const struct node *source_file(struct sources *s, const struct option_table *table, const char *path)
{
	bool standard = !strcmp(path, "-");
	FILE *in = standard ? stdin : fopen(path, "rb");
	const struct node *root = NULL;
	size_t length = 0;
	char *text = NULL;

	if (in) {
		errno = 0;
		text = read_all(in, &length);
	}
	if (!in || ferror(in))
		complain(s->reader.complaints, (struct where){ .file = path }, "cannot read: %s",
			 strerror(errno));
	else
		root = source_text(s, table, path, text, length);
	free(text);
	if (in && !standard)
		fclose(in);
	return root;
}

static void offer_bundles(struct hint *hint, struct pool *pool, const char *path)
{
	DIR *dir = opendir(*path ? path : ".");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length > 5 && !strcmp(entry->d_name + length - 5, ".yaml"))
			hint_offer(hint, pool_text(pool, entry->d_name, length - 5));
	}
	if (dir)
		closedir(dir);
}

static void complain_bundle(struct sources *s, const char *kind, const struct node *name,
			    const struct node *own)
{
	struct hint hint = hint_for(name->text);
	char buf[HINT_TEXT];
	const char *dir;

	for (size_t i = 0; own && own->kind == NODE_MAP && i < own->nr; i++)
		hint_offer(&hint, own->entries[i].key);
	for (size_t i = 0; (dir = folder(s, s->folder, i)); i++)
		offer_bundles(&hint, s->reader.pool, join(s->reader.pool, dir, kind));
	complain(s->reader.complaints, name->at, "unknown %.*s '%.100s'%s", (int)strlen(kind) - 1, kind,
		 name->text, hint_text(&hint, buf));
}

const struct node *source_bundle(struct sources *s, const struct option_table *table, const char *kind,
				 const struct node *name, const struct node *own)
{
	const struct node *found = node_get(own, name->text);
	const char *dir, *file = pool_printf(s->reader.pool, "%s.yaml", name->text);

	if (found)
		return found->kind == NODE_MAP ? found : NULL; /* the binder complains */
	/* A name, never a path: a scenario may come from somebody else. */
	for (size_t i = 0; !strchr(name->text, '/') && (dir = folder(s, s->folder, i)); i++) {
		const char *path = join(s->reader.pool, join(s->reader.pool, dir, kind), file);

		if (!is_file(path))
			path = join(s->reader.pool, dir, file);
		if (is_file(path))
			return source_file(s, table, path);
	}
	complain_bundle(s, kind, name, own);
	return NULL;
}
