# lock-wait-against-cpus.gp - draws the data of lock-wait-against-cpus.sql, where it is explained how.

set loadpath 'analysis'
tall = 1.4
load 'terminal.gp'
lock = entity
of_entity = ''

set multiplot layout 2, 1 title shown('Wait for ' . lock)
set xlabel 'CPUs'
set yrange [0:*]
ylabel = 'wait of an acquisition, us'
@set_ylabel
unset key
plot for [k = 0:nr - 1] data index 1 + k using 1:2 with linespoints linetype k + 1 title gap . columnheader(1)

set key
ylabel = 'mean hold, us'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:3 with linespoints linetype k + 1 title gap . columnheader(1)
unset multiplot
