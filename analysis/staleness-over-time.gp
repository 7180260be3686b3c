# staleness-over-time.gp - draws the data of staleness-over-time.sql, where it is explained how.

set loadpath 'analysis'
tall = 1.4
stacked = 2
load 'terminal.gp'
load 'time-axis.gp'
if (!is_text) { set rmargin 5 } # for the last tic of a long run

# Flushes of the whole tree: a row of marks a variant, above all curves of a panel.
set y2range [0:1]
set offsets 0, 0, graph 0.03 * nr + 0.02, 0
row(k) = 0.985 - 0.03 * k

set multiplot layout 2, 1 title shown('Staleness')
set yrange [0:*]

ylabel = 'reported against true, pages'
@set_ylabel
unset key
plot for [k = 0:nr - 1] data index 1 + k using (at($1)):2 with lines linetype k + 1 title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 1 + nr using ($1 == k ? at($2) : 1/0):(row(k)) axes x1y2 \
		with points pointtype 2 pointsize 0.7 linecolor k + 1 notitle

set key
ylabel = 'age of what is read, ' . of_time
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using (at($1)):(at($3)) with lines linetype k + 1 title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 1 + nr using ($1 == k ? at($2) : 1/0):(row(k)) axes x1y2 \
		with points pointtype 2 pointsize 0.7 linecolor k + 1 notitle, \
	1/0 with points pointtype 2 pointsize 0.7 linecolor rgb '#555555' \
		title gap . 'flush of the whole tree, a row a variant'
unset multiplot
