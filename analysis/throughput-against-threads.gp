# throughput-against-threads.gp - draws the data of throughput-against-threads.sql, where it is explained how.

set loadpath 'analysis'
tall = 1.4
load 'terminal.gp'

set multiplot layout 2, 1 title shown('Work against threads')
set xlabel 'threads'
set yrange [0:*]
ylabel = 'operations a second, millions'
@set_ylabel
unset key
plot for [k = 0:nr - 1] data index 1 + k using 1:($2 / 1e6) with linespoints linetype k + 1 \
	title gap . columnheader(1)

set key
set yrange [0:100]
ylabel = 'time spent spinning, %'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:3 with linespoints linetype k + 1 title gap . columnheader(1)
unset multiplot
