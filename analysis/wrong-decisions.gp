# wrong-decisions.gp - draws the data of wrong-decisions.sql, where it is explained how.
#
# Each bar carries how many of how many, since a share of a few says little.

set loadpath 'analysis'
load 'bars.gp'

if (most < 1) { most = 1.0 }
set title shown('Decisions that the truth would not have taken')
set xrange [0:most * 1.25] # room for the numbers
set xlabel 'wrong decisions, % of all'

plot for [k = 0:nr - 1] data index 1 + k \
		using (0):(y($1, k)):(0):2:(y($1, k) - half):(y($1, k) + half) \
		with boxxyerror linetype k + 1 title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 1 + k using 2:(y($1, k)):4 \
		with labels left offset 1 notitle, \
	data index 1 using (0):1:ytic(3) with dots notitle
