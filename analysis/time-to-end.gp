# time-to-end.gp - draws the data of time-to-end.sql, where it is explained how.
#
# Above, days, with a bar from the earliest to the latest replication; a filled point ends for want of memory, an
# open one for want of ids. Below, what is in the kernel's memory then.

set loadpath 'analysis'
tall = 1.5
load 'terminal.gp'

set multiplot layout 2, 1 title shown('Time to the end of the node')
set xlabel 'possible CPUs'
set logscale x 2
set offsets graph 0.03, graph 0.03, 0, 0
set yrange [0:*]
ylabel = 'days to the first mkdir that fails'
@set_ylabel
mark(why, ids) = (strstrt(why, 'ENOSPC') > 0) == ids
plot for [k = 0:nr - 1] data index 1 + k using 1:2:3:4 with yerrorlines linetype k + 1 pointtype 0 \
		title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 1 + k using 1:(mark(strcol(7), 0) ? $2 : 1 / 0) with points linetype k + 1 \
		pointtype 7 notitle, \
	for [k = 0:nr - 1] data index 1 + k using 1:(mark(strcol(7), 1) ? $2 : 1 / 0) with points linetype k + 1 \
		pointtype 6 notitle, \
	keyentry with points linetype 8 pointtype 7 title gap . 'ends of memory (ENOMEM)', \
	keyentry with points linetype 8 pointtype 6 title gap . 'ends of ids (ENOSPC)'

ylabel = 'MiB at that time'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:5 with linespoints linetype k + 1 title gap . columnheader(1) \
		. ': Percpu', \
	for [k = 0:nr - 1] data index 1 + k using 1:6 with linespoints linetype nr + k + 1 title gap \
		. columnheader(1) . ': Slab'
unset multiplot
