# lock-wait-by-class.gp - draws the data of lock-wait-by-class.sql, where it is explained how.
#
# The axis is logarithmic and begins at a nanosecond, the unit of what is counted, for every figure.

set loadpath 'analysis'
load 'bars.gp'

least = 1e-9
if (most < 1e-6) { most = 1e-6 }
drawn(waited) = waited > least ? waited : least

set title shown('Time spent waiting for locks')
set logscale x
set xrange [least:most * (most / least) ** 0.15] # room for the values
set format x '%.0s %cs'
set xlabel 'waits of all tasks together (logarithmic)'
if (is_text) { set xtics 100 } # more would run into each other

plot for [k = 0:nr - 1] data index 1 + k \
		using (least):(y($1, k)):(least):(drawn($2)):(y($1, k) - half):(y($1, k) + half) \
		with boxxyerror linetype k + 1 title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 1 + k using (drawn($2)):(y($1, k)):4 \
		with labels left offset 1 notitle, \
	data index 1 using (least):1:ytic(3) with dots notitle
