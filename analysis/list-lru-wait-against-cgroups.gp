# list-lru-wait-against-cgroups.gp - draws the data of list-lru-wait-against-cgroups.sql, which explains it.

set loadpath 'analysis'
tall = 1.4
load 'terminal.gp'

set multiplot layout 2, 1 title shown('Waiting for locks of list_lru')
set xlabel 'cgroups'
set logscale x 2
set yrange [0:*]
ylabel = 'wait for a lock, ns'
@set_ylabel
unset key
plot for [k = 0:nr - 1] data index 1 + k using 1:2 with linespoints linetype k + 1 title gap . columnheader(1)

set key
ylabel = 'of CPU time in the kernel, %'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:3 with linespoints linetype k + 1 title gap . columnheader(1)
unset multiplot
