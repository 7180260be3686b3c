# read-latency-by-level.gp - draws the data of read-latency-by-level.sql, where it is explained how.
#
# A colour a variant and a dash pattern a level, so that either can be followed. The axis of shares is that of
# read-latency-cdf.

set loadpath 'analysis'
tall = 1.25
load 'terminal.gp'

top = 4.3
stretched(share) = share < 1 - 10 ** -top ? -log10(1 - share) : top

set title shown('Latency of reads by depth')
set logscale x
set format x '%.0s %cs'
set xlabel 'time a read takes'
ylabel = 'reads that take less'
@set_ylabel
if (is_text) {
	set title offset 0, 1
	set tmargin 4
}
set yrange [0:top]
set ytics ('0 %%' 0, '50 %%' 0.30103, '90 %%' 1, '99 %%' 2, '99.9 %%' 3, '99.99 %%' 4)

# Variant and level stand in the first line of each block.
array variant[nr]
array level[nr]
do for [k = 0:nr - 1] {
	stats data index 1 + k every ::0::0 using (variant[k + 1] = $2, level[k + 1] = $3, 0) nooutput
}
if (is_text) {
	plot for [k = 0:nr - 1] data index 1 + k using 1:(stretched($2)) with lines linetype k + 1 \
		title gap . columnheader(1)
} else {
	plot for [k = 0:nr - 1] data index 1 + k using 1:(stretched($2)) with lines linewidth 2.5 \
		linecolor rgb colour[int(variant[k + 1]) % 8 + 1] dashtype dashes[int(level[k + 1]) % 7 + 1] \
		title gap . columnheader(1)
}
