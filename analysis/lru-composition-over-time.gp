# lru-composition-over-time.gp - draws the data of lru-composition-over-time.sql, where it is explained how.
#
# Lists are stacked, active file lowest, on one scale, so that panels compare. At most six variants have room; the
# title says if there are more. Where there is room the key stands below all panels, so that all are of one size.
# Text has no areas of different looks: there the upper edge of each is drawn.

set loadpath 'analysis'
panels = 6
tall = 1.8
keys = 4
load 'terminal.gp'
load 'time-axis.gp'

panels = nr < panels ? nr : panels
columns = panels > 1 ? 2 : 1
array list[4] = [ 'active file', 'inactive file', 'active anon', 'inactive anon' ]

rows = (panels + columns - 1) / columns
part = panels < nr ? sprintf(', first %d of %d variants', panels, nr) : ''
heading = shown('LRU lists') . part
if (is_text) {
	set multiplot layout rows, columns title heading
} else {
	set multiplot layout rows, columns title heading \
		margins char 12, char 4, char 7, char 4 spacing char 13, char 6
}
most = 0
do for [k = 0:panels - 1] {
	stats data index 1 + k every ::1 using (most = $2 + $3 + $4 + $5 > most ? $2 + $3 + $4 + $5 : most, 0) nooutput
}
set style fill solid 0.8 noborder
set yrange [0:most > 0 ? most * 1.05 : 1]
area = is_text ? 'lines' : 'filledcurves x1'
ylabel = 'MiB'
@set_ylabel
do for [k = 0:panels - 1] {
	if (k == panels - 1) {
		set key
		if (!is_text) { set key at screen 0.5, screen 0.01 center bottom horizontal maxrows 1 maxcols 4 }
	} else {
		unset key
	}
	stats data index 1 + k every ::::0 using (name = strcol(1), 0) nooutput
	set title name
	plot data index 1 + k using (at($1)):($2 + $3 + $4 + $5) with @area linetype 4 title gap . list[4], \
		'' index 1 + k using (at($1)):($2 + $3 + $4) with @area linetype 3 title gap . list[3], \
		'' index 1 + k using (at($1)):($2 + $3) with @area linetype 2 title gap . list[2], \
		'' index 1 + k using (at($1)):2 with @area linetype 1 title gap . list[1]
}
unset multiplot
