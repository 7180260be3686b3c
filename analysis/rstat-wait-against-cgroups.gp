# rstat-wait-against-cgroups.gp - draws the data of rstat-wait-against-cgroups.sql, where it is explained how.
#
# Waits begin at nothing, which a logarithmic axis has no place for.

set loadpath 'analysis'
tall = 1.4
load 'terminal.gp'

set multiplot layout 2, 1 title shown('The rstat lock')
set xlabel 'cgroups'
set logscale x
set yrange [0:*]
ylabel = 'wait of an acquisition, us'
@set_ylabel
unset key
plot for [k = 0:nr - 1] data index 1 + k using 1:2 with linespoints linetype k + 1 title gap . columnheader(1)

set key
set logscale y
set format y '%g'
set yrange [*:*]
ylabel = 'longest hold, us'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:3 with linespoints linetype k + 1 title gap . columnheader(1)
unset multiplot
