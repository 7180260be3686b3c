# dying-bytes-against-cpus.gp - draws the data of dying-bytes-against-cpus.sql, where it is explained how.

set loadpath 'analysis'
load 'terminal.gp'

set title shown('Memory of a dying cgroup')
set xlabel 'possible CPUs'
set logscale xy 2
ylabel = 'KiB a cgroup'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:2 with linespoints linetype k + 1 title gap . columnheader(1)
