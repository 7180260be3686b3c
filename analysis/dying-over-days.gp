# dying-over-days.gp - draws the data of dying-over-days.sql, where it is explained how.
#
# Classes are stacked, per-CPU statistics lowest. Text has no areas of different looks: there the upper edge of
# each is drawn.

set loadpath 'analysis'
tall = 1.5
stacked = 2
load 'terminal.gp'

variant = entity
of_entity = ''
set multiplot layout 2, 1 title shown('Cgroups that come and go')
set yrange [0:*]
set xlabel 'simulated time, days'
ylabel = 'dying cgroups'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using 1:2 with lines linetype k + 1 title gap . columnheader(1)

set style fill solid 0.8 noborder
area = is_text ? 'lines' : 'filledcurves x1'
set title 'Memory of the kernel for cgroups, ' . variant
ylabel = 'MiB'
@set_ylabel
plot data index 1 + nr using 1:($2 + $3 + $4 + $5) with @area linetype 4 title gap . 'other slab', \
	'' index 1 + nr using 1:($2 + $3 + $4) with @area linetype 3 title gap . 'slab of memcg and lruvec', \
	'' index 1 + nr using 1:($2 + $3) with @area linetype 2 title gap . 'other per-CPU memory', \
	'' index 1 + nr using 1:2 with @area linetype 1 title gap . 'per-CPU statistics'
unset multiplot
