/*
 * machine.c - which CPUs are near each other. See machine.h.
 *
 * CPUs are dealt out in blocks: threads of a core are neighbours in number, cores of a node follow each
 * other, nodes of a socket follow each other. Shares that do not divide evenly differ by one core.
 */
#include "sim/hw/machine.h"

static uint32_t nr_cores(const struct machine *m)
{
	return (m->cpus + m->threads_per_core - 1) / m->threads_per_core;
}

/* The part, of `parts` equal ones, that the i-th of n things falls into; and where a part begins. */
static uint32_t part_of(uint32_t i, uint32_t n, uint32_t parts)
{
	return (uint32_t)((uint64_t)i * parts / n);
}

static uint32_t part_first(uint32_t part, uint32_t n, uint32_t parts)
{
	return (uint32_t)(((uint64_t)part * n + parts - 1) / parts);
}

uint32_t machine_core(const struct machine *m, uint32_t cpu)
{
	return cpu / m->threads_per_core;
}

uint32_t machine_node(const struct machine *m, uint32_t cpu)
{
	return part_of(machine_core(m, cpu), nr_cores(m), m->nodes);
}

uint32_t machine_socket(const struct machine *m, uint32_t cpu)
{
	if (!m->sockets || m->sockets == m->nodes)
		return machine_node(m, cpu);
	return part_of(machine_node(m, cpu), m->nodes, m->sockets);
}

uint32_t machine_socket_first(const struct machine *m, uint32_t socket)
{
	uint32_t sockets = m->sockets ? m->sockets : m->nodes;
	uint32_t node = part_first(socket, m->nodes, sockets);
	uint32_t cpu = part_first(node, nr_cores(m), m->nodes) * m->threads_per_core;

	return cpu < m->cpus ? cpu : m->cpus;
}

sim_time_t machine_transfer(const struct machine *m, uint32_t from, uint32_t to)
{
	if (from == to)
		return m->line_hit;
	if (machine_core(m, from) == machine_core(m, to))
		return m->line_core;
	if (machine_socket(m, from) == machine_socket(m, to))
		return m->line_socket;
	return m->line_remote;
}
