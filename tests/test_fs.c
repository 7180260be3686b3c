/*
 * test_fs.c - inodes and dentries: whom they are charged to, before and after the end of a cgroup; what the
 * superblock's shrinker takes and in which order; and a tree that is read in less memory than it needs.
 */
#include "models/cgroup/stock.h"
#include "models/fs/vfs_impl.h"
#include "models/page/reparent.h"
#include "tests/evict_rig.h"

#define PAIR (DENTRY_BYTES + OWNER_BYTES + 1200 + OWNER_BYTES)
#define TREE " }\ncgroups: [ { name: p, children: [ { name: q } ] }, { name: c } ]\n"

static const char *const orders[] = {
	RIG_HEAD RIG_POLICIES ", list_lru_lock: per_node" TREE,
	RIG_HEAD RIG_POLICIES ", list_lru_lock: per_memcg" TREE,
};

static void open_and_close(struct task *t, struct memcg *m, struct vfs_file *files, uint32_t from,
			   uint32_t nr)
{
	for (uint32_t i = from; i < from + nr; i++) {
		task_sync(t);
		assert_true(vfs_open(t, m, &files[i], NULL));
		vfs_close(t, &files[i]);
	}
	task_sync(t);
}

static uint64_t charged(struct task *t, const struct memcg *m)
{
	task_sleep(t, 100 * SIM_MS); /* grace periods */
	task_sync(t);
	return m->object_bytes;
}

/* The lists of m and what it is charged for become above's, which gives all back. */
static void one_end(struct task *t, struct rig *r, struct superblock *sb, struct memcg *m,
		    struct memcg *above)
{
	struct vfs_file *files = vfs_files(sb, 10, 1, NULL);

	open_and_close(t, m, files, 0, 10);
	assert_int_equal(charged(t, m), 10 * PAIR);
	assert_int_equal(list_lru_count_one(&sb->dentries, m, 0), 10);
	assert_int_equal(list_lru_count_one(&sb->inodes, m, 0), 0); /* their dentries hold them */
	memcg_offline_kmem(t, m, memcg_reparent_owners);
	task_sync(t);
	reparent_shrinker_deferred(m);
	assert_int_equal(m->object_bytes, 0);
	assert_int_equal(above->object_bytes, 10 * PAIR);
	assert_int_equal(list_lru_count_one(&sb->dentries, above, 0), 10);
	assert_true(memcg_is_root(above) || shrinker_bit(above, 0, &sb->shrinker));
	for (int i = 0; i < 3; i++)
		shrink_slab(t, above, 0, 0);
	assert_int_equal(vfs_counted(sb)->dentries, 0);
	assert_int_equal(vfs_counted(sb)->inodes, 0);
	assert_int_equal(charged(t, above), 0);
	(void)r;
}

static void ends(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct superblock *sb = vfs_superblock(r->host, "fs", 1200);

	assert_ptr_equal(vfs_superblock(r->host, "fs", 1200), sb);
	one_end(t, r, sb, memcg_find(r->host, "/p/q"), memcg_find(r->host, "/p"));
	one_end(t, r, sb, r->c, r->host->cgroups->root);
}

static void accounting(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
		rig_run_on(orders[i], 1, ends);
}

/* ---- what the shrinker takes ---- */

static void used_again(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct superblock *sb = vfs_superblock(r->host, "fs", 1200);
	struct vfs_file *files = vfs_files(sb, 8, 1, NULL);

	open_and_close(t, r->c, files, 0, 8);
	open_and_close(t, r->c, files, 0, 4);
	assert_true(vfs_open(t, r->c, &files[7], NULL));
	/* Half of what a scan of all may look at: four go round, four of the rest are open or go. */
	sb->shrinker.scan(t, &sb->shrinker, r->c, 0, 8);
	assert_int_equal(vfs_counted(sb)->dentries, 5);
	for (uint32_t i = 4; i < 7; i++)
		assert_false(files[i].state & DENTRY_THERE);
	assert_int_equal(list_lru_count_one(&sb->dentries, r->c, 0), 4); /* the open one is on no list */
	vfs_close(t, &files[7]);
	task_sync(t);
	assert_int_equal(list_lru_count_one(&sb->dentries, r->c, 0), 5);
	/* Their inodes had nothing else; one of them has gone in the same call. */
	assert_int_equal(list_lru_count_one(&sb->inodes, r->c, 0), 2);
}

static void dentries(void **state)
{
	(void)state;
	rig_run_on(orders[0], 1, used_again);
}

static void with_a_page(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct superblock *sb = vfs_superblock(r->host, "fs", 1200);
	struct vfs_file *file = vfs_files(sb, 1, 1, NULL);
	const struct workingset_count *shadows = workingset_counted(r->host);
	uint64_t kept;

	assert_true(vfs_open(t, r->c, file, NULL));
	assert_int_equal(file_read(t, r->c, file->pages, 0, NULL), FILE_MISS);
	vfs_close(t, file);
	assert_int_equal(charged(t, r->c), PAIR); /* no node for a file of one page */
	shrink_slab(t, r->c, 0, 0);
	assert_false(file->state & DENTRY_THERE);
	assert_int_equal(list_lru_count_one(&sb->inodes, r->c, 0), 0); /* its page keeps it off */
	lru_add_drain(t);
	task_sync(t);
	assert_int_equal(rig_evict(t, r->host, rig_frame(&file->pages->object, 0), r->c), EVICT_GONE);
	task_sync(t);
	assert_int_equal(list_lru_count_one(&sb->inodes, r->c, 0), 1);
	kept = shadows->shadows_made - shadows->shadows_gone;
	assert_int_equal(kept, 1);
	/* The shadow first, then the inode. */
	for (int i = 0; i < 3; i++)
		shrink_slab(t, r->c, 0, 0);
	assert_int_equal(shadows->shadows_made, shadows->shadows_gone);
	assert_int_equal(vfs_counted(sb)->inodes, 0);
	assert_int_equal(charged(t, r->c), 0);
}

static void inode_and_page(void **state)
{
	(void)state;
	rig_run_on(orders[0], 1, with_a_page);
	rig_run_on(orders[1], 1, with_a_page);
}

/* A file that is only looked at has no pages; a second look makes the shrinker pass over it once. */
static void looked_at(struct task *t, void *arg)
{
	struct rig *r = arg;
	struct superblock *sb = vfs_superblock(r->host, "fs", 1200);
	struct vfs_file *file = vfs_files(sb, 1, 0, NULL);

	for (int i = 0; i < 2; i++)
		assert_true(vfs_stat(t, r->c, file, NULL));
	assert_int_equal(charged(t, r->c), PAIR);
	assert_int_equal(file->opens, 0);
	sb->shrinker.scan(t, &sb->shrinker, r->c, 0, 1);
	assert_true(file->state & DENTRY_THERE);

	/* Who holds i_lock is about to put it on the list: nobody else does, and nobody frees it there. */
	file->state |= INODE_LOCKED;
	sb->shrinker.scan(t, &sb->shrinker, r->c, 0, 1);
	assert_false(file->state & DENTRY_THERE);
	assert_int_equal(list_lru_count_one(&sb->inodes, r->c, 0), 0);
	file->state &= (uint8_t)~INODE_LOCKED;
	vfs_inode_unused(t, file, false);
	file->state |= INODE_LOCKED;
	sb->shrinker.scan(t, &sb->shrinker, r->c, 0, 1);
	assert_int_equal(list_lru_count_one(&sb->inodes, r->c, 0), 1);
	assert_true(file->state & INODE_THERE);
	file->state &= (uint8_t)~INODE_LOCKED;
	sb->shrinker.scan(t, &sb->shrinker, r->c, 0, 1);
	assert_int_equal(vfs_counted(sb)->inodes, 0);
	assert_int_equal(charged(t, r->c), 0);
}

static void only_looked_at(void **state)
{
	char text[1024];

	(void)state;
	rig_run_on(orders[0], 1, looked_at);
	rig_run_on(orders[1], 1, looked_at);
	fixture_complaints(RIG_HEAD RIG_POLICIES " }\ntasks:\n"
						 "  - { workload: tree_read, files: 1, file_pages: 0 }\n",
			   text, sizeof text);
	assert_non_null(strstr(text, "file_pages: 0 needs `stats`, or nothing is done"));
}

/* Of a tree an inode has the size that it is given, or else that of ext4 in the kernel. */
static void size_of_an_inode(void **state)
{
	static const struct {
		const char *kernel, *inode;
		uint32_t bytes;
	} cases[] = { { "v6.1", "", 1192 }, { "v6.12", "", 1168 }, { "v6.12", ", inode: 1024", 1024 } };
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fixture f;

		snprintf(text, sizeof text,
			 RIG_HEAD "kernel: %s\ntasks: [ { workload: tree_read, files: 10%s } ]\n",
			 cases[i].kernel, cases[i].inode);
		fixture_open(&f, text);
		fixture_run(&f);
		assert_int_equal(f.host->superblocks->inode_bytes, cases[i].bytes);
		assert_int_equal(f.host->cgroups->root->object_bytes, 0); /* the root pays for nothing */
		fixture_close(&f);
	}
	fixture_complaints(RIG_HEAD RIG_POLICIES " }\ntasks:\n"
						 "  - { workload: tree_read, files: 1, inode: 100 }\n",
			   text, sizeof text);
	assert_non_null(strstr(text, "inode: at least 256 bytes"));
}

/* ---- trees in too little memory ---- */

static void read_tree(struct task *t, void *arg)
{
	struct fixture *f = arg;
	char path[] = "/p/d1";

	path[4] = (char)('1' + t->cpu->id);
	struct memcg *m = memcg_find(f->host, path);
	struct vfs_file *files = vfs_files(vfs_superblock(f->host, "fs", 1200), 550, 1, NULL);

	for (uint32_t i = 0; i < 1650; i++) {
		struct vfs_file *file = &files[i % 550];

		task_sync(t);
		assert_true(vfs_open(t, m, file, NULL));
		assert_true(file_read(t, m, file->pages, 0, NULL) != FILE_NOMEM);
		vfs_close(t, file);
		task_sync(t);
		if (i % 100 == 99) /* as reclaim does that finds few pages */
			shrink_slab(t, m, t->cpu->node, 0);
	}
}

static void small_memory(void **state)
{
	static const char *const locks[] = { "per_node", "per_memcg" };
	char text[1024];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fixture f;

		snprintf(text, sizeof text,
			 "schema: 1\nscenario: test\nhost: { cpus: 4, nodes: 2, memory: 64MiB }\nkernel: "
			 "v6.1\n"
			 "policies: { list_lru_lock: %s }\ncgroups: [ { name: p, memory.max: 10MiB,\n"
			 "  children: [ { name: 'd{1..4}' } ] } ]\n",
			 locks[i]);
		fixture_open(&f, text);
		for (uint32_t cpu = 0; cpu < 4; cpu++)
			fixture_spawn(&f, cpu, read_tree, &f);
		fixture_run(&f);
		const struct vfs_count *count = vfs_counted(vfs_superblock(f.host, "fs", 1200));

		assert_true(count->inodes_made > 2200);
		assert_true(count->inodes_freed > 100 && count->dentries_freed > 100);
		assert_true(memcg_find(f.host, "/p")->memory.usage <= 2560);
		assert_true(fixture_holds(&f));
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounting),       cmocka_unit_test(dentries),
		cmocka_unit_test(inode_and_page),   cmocka_unit_test(only_looked_at),
		cmocka_unit_test(size_of_an_inode), cmocka_unit_test(small_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
