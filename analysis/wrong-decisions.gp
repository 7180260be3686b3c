# wrong-decisions.gp - draws the data of wrong-decisions.sql, where it is explained how.
#
# Bars lie, so that the names of deciders can be read; each carries how many of how many, since a share of a few
# says little.

set loadpath 'analysis'
# Taller with the bars, so that the numbers beside them stay apart.
stats data index 0 using (bars = $3 * $4, 0) nooutput
tall = bars > 18 ? bars / 18.0 : 1
load 'terminal.gp'

most = 1.0
stats data index 0 using (classes = $4, 0) nooutput
do for [k = 0:nr - 1] {
	stats data index 1 + k every ::1 using (most = $2 > most ? $2 : most, 0) nooutput
}
thick = is_text ? 1.0 / (nr + 1) : 0.8 / nr # in text a line each, and one between classes
half = is_text ? 0 : thick * 0.47 # a bar of text is one line of characters
y(class, k) = class + (k - (nr - 1) / 2.0) * thick

set title shown('Decisions that the truth would not have taken')
set xrange [0:most * 1.25] # room for the numbers
set xlabel 'wrong decisions, % of all'
set yrange [classes - 0.5:-0.5]
set ytics scale 0
unset lmargin
if (is_text) {
	set terminal dumb noenhanced size 75, 9 + nr + classes * (nr + 1)
} else {
	set style fill solid noborder
	set grid noytics
}

plot for [k = 0:nr - 1] data index 1 + k \
		using (0):(y($1, k)):(0):2:(y($1, k) - half):(y($1, k) + half) \
		with boxxyerror linetype k + 1 title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 1 + k using 2:(y($1, k)):4 \
		with labels left offset 1 notitle, \
	data index 1 using (0):1:ytic(3) with dots notitle
