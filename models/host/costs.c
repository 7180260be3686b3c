/*
 * costs.c - `costs: kernel:` of a machine file, and what stands in for a machine that names none.
 *
 * The defaults are those of a bare two-socket Skylake server. A source that says "published" rests on a
 * measurement that somebody printed, "estimate" on what the operation has to do there;
 * docs/anon-fault-path.md adds the parts of the fault path up and compares the sum with a measured one.
 */
#include "models/host/costs.h"

#include "sim/engine/sim.h"
#include "sim/module.h"

#define COST(field_, value_, help_, source_)                                                     \
	OPTION(struct kernel_costs, field_, OPT_DURATION, .fallback = (value_), .help = (help_), \
	       .source = (source_))

static const struct option rows[] = {
	COST(fault_entry, "60ns", "page fault: exception, vma and page-table walk, return to user mode",
	     "estimate: a null fault without allocation on a bare Skylake server with page-table "
	     "isolation off"),
	COST(page_alloc, "10ns", "a page from the CPU's list of free pages",
	     "estimate: per-CPU list hit under a lock of the CPU's own; statistics of the zone by batch"),
	COST(page_free, "8ns", "a page back to that list", "estimate: as page_alloc, many in a row"),
	COST(page_clear, "55ns", "clearing 4 KiB", "estimate: rep stosb at 75 GB/s into the nearest caches"),
	COST(page_copy, "80ns", "copying 4 KiB from or to user memory", "estimate: rep movsb at 50 GB/s"),
	COST(rmap_add, "9ns", "anon_vma, map count and page-table entry of one page",
	     "estimate: two locked operations are not among them on 6.1"),
	COST(rmap_remove, "10ns", "the same out again, with its share of the TLB flush",
	     "estimate: one flush for 512 pages"),
	COST(touch, "2ns", "a store to a page that is mapped", "estimate: TLB miss with the walk in cache"),
	COST(syscall, "90ns", "entering and leaving the kernel",
	     "estimate: getppid() with mitigations on Skylake"),
	COST(zone_page, "4ns", "a page between a CPU's list and its node's",
	     "estimate: list work of rmqueue_bulk, merging of buddies included, 63 in a row"),
	COST(consume_stock, "8ns", "pages from the CPU's stock",
	     "published: 53.5 cycles on an EPYC 7601, two rdtscp included, which alone are some 30"),
	COST(refill_stock, "12ns", "pages into the CPU's stock", "published: 65.5 cycles, as above"),
	COST(charge_commit, "4ns", "owner pointer and css reference of a page",
	     "estimate: one per-CPU increment and one store"),
	COST(uncharge, "4ns", "a page, gathered with others", "estimate: as charge_commit"),
	COST(stock_scan, "130ns", "a look at one CPU's stock",
	     "published: drain_all_stock() on 128 CPUs of an EPYC 7601 takes 44,000 cycles with one CPU to "
	     "drain"),
	COST(stock_object, "14ns", "bytes of a kernel object from or to the CPU's stock",
	     "published: 60.0 and 73.2 cycles on an EPYC 7601, with two rdtscp, and a part of "
	     "mod_objcg_state's 85"),
	COST(batch_add, "3ns", "a page into the CPU's folio batch",
	     "estimate: a store, a counter, a reference"),
	COST(lru_add, "7ns", "a page onto its list, without statistics",
	     "estimate: two lines written, flags changed"),
	COST(lru_del, "7ns", "a page off its list, without statistics", "estimate: as lru_add"),
	COST(reclaim_memcg, "400ns", "a cgroup that reclaim comes by: iterator, protection, scan amounts",
	     "estimate: a handful of lines that other CPUs write"),
	COST(scan_page, "15ns", "taking a page off its list to look at it",
	     "estimate: a cold struct page, two locked operations"),
	COST(reclaim_page, "60ns", "looking at it: page lock, references, flags",
	     "estimate: rmap walk of a page mapped once, or a look at its flags"),
	COST(oom_report, "10ms", "what the OOM killer prints before it kills",
	     "estimate: some sixty lines to a console, 1 ms without one, 40 ms at 115,200 baud"),
	COST(walk_entry, "4ns", "a page-table entry that a walk comes by",
	     "estimate: a load in order; where it is young, a cold struct page, several of them at a time"),
	COST(cache_lookup, "45ns", "finding a cached page and checking it",
	     "estimate: xas_load of three levels, folio_try_get, flags"),
	COST(cache_add, "60ns", "a page into its file's tree",
	     "estimate: xas_store of three levels under i_pages"),
	COST(cache_remove, "70ns", "a page out of it", "estimate: as cache_add, with the folio's lock"),
	COST(list_lru_op, "60ns", "onto or off a list_lru", "estimate: two lines written, a counter"),
	COST(list_lru_scan, "80ns", "an object that a walk of a list_lru looks at",
	     "estimate: one line from memory, as nobody has touched the oldest for long; Intel MLC, 78 ns"),
	COST(path_stat, "570ns", "looking at a file by name, in memory",
	     "2,310 instructions on 6.12 beside the system call, counted in a guest, at 0.25 ns"),
	COST(path_lookup, "1.1us", "opening and closing a file that is in memory",
	     "4,490 instructions beside the system calls, counted in the same way"),
	COST(inode_read, "4us", "what more it takes when dentry and inode are not in memory",
	     "15,300 instructions with XFS, 14,500 with ext4, counted in the same way"),
	COST(inode_free, "900ns", "evicting an inode without pages",
	     "5,200 instructions with its dentry, counted in the same way with XFS, less the other parts"),
	COST(inode_dirty, "400ns", "marking an inode dirty, up to the flags",
	     "estimate: the inode's block looked up and filled in"),
	COST(inode_write, "8us", "writing a new file's one page back to memory, up to a clean inode",
	     "estimate: a block found, a bio, an end of I/O; 20 times as much as inode_dirty, in a guest 27"),
	COST(inode_list_op, "650ns", "onto or off a superblock's list of all inodes, under its lock",
	     "600,000 to 700,000 inodes a second in and out with 32 threads, where nothing else is in the "
	     "way (message of 6 December 2023 on scalability of the inode cache), less the hand-over"),
	COST(dentry_look, "80ns", "what a walk of dentries looks at beside the list_head",
	     "a line from memory: d_flags; lock and count are with the list_head (BTF of 6.12)"),
	COST(inode_look, "240ns", "what a walk of inodes looks at beside the list_head",
	     "three lines from memory: lock and state, count, mapping (BTF)"),
	COST(dentry_free, "150ns", "unhashing a dentry and freeing it by RCU",
	     "estimate: three lines that are not in cache"),
	COST(shadow_node_free, "500ns", "emptying a node of shadows and freeing it",
	     "estimate: 64 slots looked at, parents touched, call_rcu"),
	COST(swap_slot, "50ns", "finding a slot of swap, or giving one back",
	     "estimate: per-CPU cache of slots; its share of cluster lock and map"),
	COST(read_device, "900ns", "the CPU's part of reading one page from a device",
	     "estimate: bio, request, completion by interrupt on a RAM disk or NVMe"),
	COST(cgroup_create, "150us", "making a cgroup: its state in all controllers and some 60 files",
	     "estimate: 1 to 2 us a file of kernfs, and per-CPU memory"),
	COST(cgroup_remove, "80us", "removing one: its files, and its reference counts killed",
	     "estimate: as cgroup_create, without allocations"),
	COST(cgroup_attach, "10us", "a task into another cgroup",
	     "estimate: css_set looked up, task moved, controllers asked"),
	COST(cgroup_offline, "20us", "taking a removed cgroup offline, beside lists, stocks and locks",
	     "estimate: some ten controllers and notifiers"),
	COST(cgroup_free, "20us", "freeing what is left of one",
	     "estimate: two dozen frees, of which five are of per-CPU memory"),
	COST(stat_update, "9ns",
	     "one statistics update: the node's, the memcg's and the lruvec's slot of the CPU",
	     "estimate: half of mod_objcg_state()'s 20 ns (85 cycles on an EPYC 7601, two rdtscp of 30 off), "
	     "which "
	     "holds one and its own bookkeeping; fallocate1's profile has 26 ns an update under contention, "
	     "with "
	     "the core's other thread spinning"),
	COST(rstat_check, "1ns", "is the memcg on the CPU's updated list already",
	     "estimate: a call, and one load of a line of the CPU's own"),
	COST(rstat_link, "15ns", "putting one level on the list, or passing one sibling",
	     "estimate: two stores, a miss at times"),
	COST(stat_level, "600ps", "an add to the CPU's counter of one level (6.8 on)",
	     "estimate: a load, an add, a compare"),
	COST(dying_test, "50ps", "is the cgroup of an update being removed",
	     "fitted to: no difference at all by patch 3 of seed 1; a well predicted branch on a line that "
	     "the "
	     "update uses anyway"),
	COST(flush_cpu, "60ns", "one possible CPU with nothing to flush, beside its lock",
	     "estimate: per-CPU address, check and loop"),
	COST(flush_slot, "1500ps", "one counter of a flushed (memcg, CPU) pair",
	     "estimate: load, compare, and a store at times"),
	COST(flush_line, "84ns", "a cache line of such a pair that another CPU of the socket wrote",
	     "fitted to: 2.6 us a pair of v7.1 on one node (104 counters, 26 lines), slope method on a guest "
	     "of "
	     "60 CPUs; from the own CPU or another socket in proportion to line_hit and line_remote"),
	COST(flush_pair, "250ns", "popping a pair, calling the controller, unlinking",
	     "estimate: three indirect calls and a handful of misses"),
	COST(flush_others, "250ns", "the other controllers and the base of a pair (before 6.16)",
	     "estimate: as flush_pair, for cpu, io and the base statistics"),
	COST(read_format, "10us", "producing the text of memory.stat",
	     "estimate: some fifty lines of seq_buf_printf"),
	COST(read_open, "2us", "opening, reading and closing a cgroup file, beside that",
	     "estimate: openat, read and close of a kernfs file"),
	OPTION(struct kernel_costs, path_scale, OPT_NUMBER, .fallback = "1", .min = "0.01", .max = "100",
	       .help = "all of these take so many times as long, but flush_*, lines and locks",
	       .source = "the table is of paths that run again and again, code and branches at hand"),
};
static const struct option_table table = OPTION_TABLE("kernel", struct kernel_costs, rows);

MODULE(kernel_costs) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_COSTS,
	.name = "kernel",
	.help = "pieces of kernel paths, apart from locks and cache lines",
	.options = &table,
};

/*
 * What a flush costs is measured on machines at work, most of it lines of other CPUs: it is no bare path.
 * What is under the locks of lists of inodes and dentries is lines from memory.
 */
static bool is_path(const struct option *row)
{
	size_t at = row->offset;

	if (at >= offsetof(struct kernel_costs, flush_cpu) &&
	    at <= offsetof(struct kernel_costs, flush_others))
		return false;
	return at < offsetof(struct kernel_costs, list_lru_scan) ||
	       at > offsetof(struct kernel_costs, inode_look);
}

const struct kernel_costs *kernel_costs_scaled(struct sim *sim, const struct kernel_costs *costs)
{
	if (costs->path_scale == 1)
		return costs;
	struct kernel_costs *scaled = sim_alloc(sim, sizeof *scaled);

	*scaled = *costs;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].type != OPT_DURATION || !is_path(&rows[i]))
			continue;
		sim_time_t *cost = (sim_time_t *)(void *)((char *)scaled + rows[i].offset);

		*cost = (sim_time_t)((double)*cost * costs->path_scale);
	}
	return scaled;
}
