# update-cost-against-depth.gp - draws the data of update-cost-against-depth.sql, where it is explained how.

set loadpath 'analysis'
load 'terminal.gp'

set title shown('Cost against depth')
set xlabel 'depth of the cgroup'
set xtics 1
set yrange [0:*]
ylabel = 'ns an operation'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:2 with linespoints linetype k + 1 title gap . columnheader(1)
