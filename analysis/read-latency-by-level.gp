# read-latency-by-level.gp - draws the data of read-latency-by-level.sql, where it is explained how.
#
# A colour a variant and a dash pattern a level, so that either can be followed.

set loadpath 'analysis'
tall = 1.25
load 'terminal.gp'
what = 'read'
blocks = 1
load 'share-axis.gp'

set title shown('Latency of reads by depth')

# Variant and level stand in the first line of each block.
array variant[nr]
array level[nr]
do for [k = 0:nr - 1] {
	stats data index 1 + k every ::0::0 using (variant[k + 1] = $2, level[k + 1] = $3, 0) nooutput
}
if (is_text) {
	plot for [k = 0:nr - 1] data index 1 + k using (at($1)):(stretched($2)) with lines linetype k + 1 \
		title gap . columnheader(1)
} else {
	plot for [k = 0:nr - 1] data index 1 + k using (at($1)):(stretched($2)) with lines linewidth 2.5 \
		linecolor rgb colour[int(variant[k + 1]) % colours + 1] \
		dashtype dashes[int(level[k + 1]) % 7 + 1] title gap . columnheader(1)
}
