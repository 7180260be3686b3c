# read-latency-cdf.gp - draws the data of read-latency-cdf.sql, where it is explained how.
#
# The axis of shares is stretched towards 100 %, a step for each further nine: the tail is what readers of
# such a figure look for, and on an even axis it is a line along the upper border. A caller may set `what`.

set loadpath 'analysis'
load 'terminal.gp'

top = 4.3
stretched(share) = share < 1 - 10 ** -top ? -log10(1 - share) : top

if (!exists('what')) what = 'read'
set title shown('Latency of ' . what . 's')
set logscale x
set format x '%.0s %cs'
set xlabel 'time a ' . what . ' takes'
ylabel = what . 's that take less'
@set_ylabel
if (is_text) {
	set title offset 0, 1
	set tmargin 4
}
set yrange [0:top]
set ytics ('0 %%' 0, '50 %%' 0.30103, '90 %%' 1, '99 %%' 2, '99.9 %%' 3, '99.99 %%' 4)

plot for [k = 0:nr - 1] data index 1 + 2 * k using 1:(stretched($2)) with lines linetype k + 1 \
		title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 2 + 2 * k using 1:(stretched($2)) with points linetype k + 1 notitle
