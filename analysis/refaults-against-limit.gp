# refaults-against-limit.gp - draws the data of refaults-against-limit.sql, where it is explained how.

set loadpath 'analysis'
tall = 1.4
load 'terminal.gp'

set multiplot layout 2, 1 title shown('Refaults and hit rate')
set xlabel 'memory.max, MiB'
set yrange [0:*]
ylabel = 'refaults a second'
@set_ylabel
unset key
plot for [k = 0:nr - 1] data index 1 + k using 1:2 with linespoints linetype k + 1 title gap . columnheader(1)

set key
set yrange [*:100]
ylabel = 'reads that hit the cache, %'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:3 with linespoints linetype k + 1 title gap . columnheader(1)
unset multiplot
