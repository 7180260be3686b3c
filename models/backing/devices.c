/*
 * devices.c - `devices:` and `swap:` of the scenario, and what comes of them.
 */
#include <string.h>

#include "models/backing/backing_impl.h"

struct device_options {
	const char *name;
	struct module_use device;
};

static const struct option device_rows[] = {
	OPTION(struct device_options, name, OPT_STRING, .required = true, .help = "what others call it"),
	OPTION(struct device_options, device, OPT_MODULE, .kind = MODULE_DEVICE, .required = true,
	       .help = "what it is; its own options stand beside"),
};
static const struct option_table device_table = OPTION_TABLE("device", struct device_options, device_rows);

MODULE(devices_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "devices",
	.help = "disks and zram",
	.options = &device_table,
	.order = 30,
	.list = true,
};

#define NO_DEVICE "none"

struct swap_options {
	const char *device;
};

static const struct option swap_rows[] = {
	OPTION(struct swap_options, device, OPT_STRING, .fallback = NO_DEVICE,
	       .help = "name of the device that is swap; none: no swap"),
};
static const struct option_table swap_table = OPTION_TABLE("swap", struct swap_options, swap_rows);

MODULE(swap_section) = {
	.abi = MEMCGSIM_ABI,
	.kind = MODULE_SECTION,
	.name = "swap",
	.help = "where anonymous memory and tmpfs go",
	.options = &swap_table,
	.order = 31,
};

static const struct device_options *named(const struct scenario *s, const char *name, size_t before)
{
	const struct option_list *list = scenario_section(s, "devices");

	for (size_t i = 0; i < list->nr && i < before; i++) {
		const struct device_options *o = list->items[i];

		if (!strcmp(o->name, name))
			return o;
	}
	return NULL;
}

/*
 * A device that is neither swap nor named by a task is easily left over from another scenario. Where a task
 * names it, disk_check() settles it, before this or after.
 */
static void remark_on_use(const struct device_options *o, bool used, struct complaints *c)
{
	remark(c, option_where(o, "name"), used, "name: '%.100s' is neither swap nor the disk of a task",
	       o->name);
}

void backing_check(const struct scenario *s, struct complaints *c)
{
	const struct option_list *list = scenario_section(s, "devices");
	const struct swap_options *swap = scenario_section(s, "swap");

	for (size_t i = 0; i < list->nr; i++) {
		const struct device_options *o = list->items[i];

		if (!strcmp(o->name, NO_DEVICE))
			complain(c, option_where(o, "name"), "name: '" NO_DEVICE "' stands for no device");
		if (named(s, o->name, i))
			complain(c, option_where(o, "name"), "name: another device is called '%.100s' too",
				 o->name);
		else
			remark_on_use(o, !strcmp(o->name, swap->device), c);
	}
	if (strcmp(swap->device, NO_DEVICE) && !named(s, swap->device, list->nr))
		complain(c, option_where(swap, "device"), "device: there is no device '%.100s'",
			 swap->device);
}

void disk_check(const struct scenario *s, const char *name, const void *bound, const char *key,
		struct complaints *c)
{
	const struct device_options *o = name ? named(s, name, SIZE_MAX) : NULL;
	const struct device_ops *ops = o && o->device.module ? o->device.module->ops : NULL;

	if (o)
		remark_on_use(o, true, c);
	if (name && !o)
		complain(c, option_where(bound, key), "%s: there is no device '%.100s'", key, name);
	else if (ops && ops->synchronous)
		complain(c, option_where(bound, key), "%s: '%.100s' is no disk: files cannot lie on it", key,
			 name);
}

static struct device *find(struct host *host, const char *name)
{
	struct backing_state *backing = host->backing;

	for (uint32_t i = 0; name && i < backing->nr_devices; i++)
		if (!strcmp(backing->devices[i].name, name))
			return &backing->devices[i];
	return NULL;
}

struct disk *disk_find(struct host *host, const char *name)
{
	const struct device *device = find(host, name);

	return device && !device->ops->synchronous ? device->state : NULL;
}

void backing_build(struct host *host)
{
	const struct option_list *list = scenario_section(host->scenario, "devices");
	const struct swap_options *swap = scenario_section(host->scenario, "swap");
	struct backing_state *backing = sim_alloc(host->sim, sizeof *backing);

	host->backing = backing;
	backing->nr_devices = (uint32_t)list->nr;
	backing->devices = sim_alloc(host->sim, (list->nr ? list->nr : 1) * sizeof *backing->devices);
	for (size_t i = 0; i < list->nr; i++) {
		const struct device_options *o = list->items[i];
		struct device *device = &backing->devices[i];

		device->name = o->name;
		device->ops = o->device.module->ops;
		device->options = o->device.options;
		device->state = device->ops->create(host, o->name, device->options);
	}
	backing->swap.device = find(host, swap->device);
	swap_build(host);
	writeback_build(host);
}

void backing_sample(struct host *host, sim_time_t now)
{
	for (uint32_t i = 0; i < host->backing->nr_devices; i++)
		if (host->backing->devices[i].ops->sample)
			host->backing->devices[i].ops->sample(host->backing->devices[i].state, now);
	swap_sample(host, now);
	writeback_sample(host, now);
}

void backing_finish(struct host *host)
{
	for (uint32_t i = 0; i < host->backing->nr_devices; i++)
		host->backing->devices[i].ops->finish(host->backing->devices[i].state);
	swap_finish(host);
	writeback_finish(host);
}
