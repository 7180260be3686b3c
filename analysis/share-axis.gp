# share-axis.gp - distributions of times: the axis of shares is stretched towards 100 %, a step for each further
# nine, since the tail is what readers of such a figure look for, and on an even axis it is a line along the upper
# border. Times are on a logarithmic axis, unless they are so close together that it would have a single tic.
#
# After terminal.gp. The caller sets `what` (of what the times are) and `blocks`, how many blocks of data lie between
# a curve and the next; it draws (at($1)):(stretched($2)).

top = 4.3
stretched(share) = share < 1 - 10 ** -top ? -log10(1 - share) : top
set yrange [0:top]
set ytics ('0 %%' 0, '50 %%' 0.30103, '90 %%' 1, '99 %%' 2, '99.9 %%' 3, '99.99 %%' 4)
ylabel = what . 's that take less'
@set_ylabel

shortest = 1e300
longest = 0.0
do for [k = 0:nr - 1] {
	stats data index 1 + blocks * k every ::1 using (shortest = $1 > 0 && $1 < shortest ? $1 : shortest, \
		longest = $1 > longest ? $1 : longest, 0) nooutput
}
even = longest < 10 * shortest
unit = !even ? 1 : longest < 1e-6 ? 1e-9 : longest < 1e-3 ? 1e-6 : longest < 1 ? 1e-3 : 1
at(seconds) = seconds / unit
set xlabel 'time a ' . what . ' takes'
if (even) {
	set xlabel 'time a ' . what . ' takes, ' . (unit < 1e-7 ? 'ns' : unit < 1e-4 ? 'us' : unit < 1 ? 'ms' : 's')
} else {
	set logscale x
	set format x '%.0s %cs'
}
if (is_text) {
	set title offset 0, 1
	set tmargin 4
}
