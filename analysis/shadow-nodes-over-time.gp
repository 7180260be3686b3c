# shadow-nodes-over-time.gp - draws the data of shadow-nodes-over-time.sql, where it is explained how.

set loadpath 'analysis'
load 'terminal.gp'
load 'time-axis.gp'
if (!is_text) { set rmargin 5 } # for the last tic of a long run

set title shown('Shadow nodes')
ylabel = 'nodes'
@set_ylabel
set yrange [0:*]
set linetype 99 linecolor rgb '#888888' linewidth 1.5 dashtype '-'

plot for [k = 0:nr - 1] data index 1 + k using (at($1)):2 with lines linetype k + 1 title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 1 + k using (at($1)):3 with lines linetype 99 \
		title k ? '' : gap . '(LRU + slab) / 8, of each'
