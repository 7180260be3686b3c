# error-by-period-and-cpus.gp - draws the data of error-by-period-and-cpus.sql, where it is explained how.
#
# Cells in colour; on a page of text, digits from 0 to 9 on a scale of logarithms from the least to the most.

set loadpath 'analysis'
keys = 0
tall = 1.2
load 'terminal.gp'

stats data index 0 using (target = $4, 0) nooutput
stats data index 1 using 1:2 name 'where' nooutput
stats data index 1 using 3 name 'pages' nooutput
least = pages_min > 1 ? pages_min : 1
most = pages_max > least ? pages_max : least + 1
# Room around, so that numbers at the border can be read.
beside = where_max_x > where_min_x ? (where_max_x / where_min_x) ** 0.06 : 2
above = where_max_y > where_min_y ? (where_max_y / where_min_y) ** 0.06 : 2
set xrange [where_min_x / beside:where_max_x * beside]
set yrange [where_min_y / above:where_max_y * above]

set title shown('Error of a read, 99th percentile')
set logscale x 2
set logscale y
set format y '%g'
set xlabel 'CPUs'
ylabel = 'period of the flushing worker, s'
@set_ylabel
unset key
if (is_text) {
	set title offset 0, 1
	set tmargin 4
	digit(p) = sprintf('%d', p > least ? int(9.99 * log(p / least) / log(most / least)) : 0)
	set xlabel sprintf('CPUs; 0 is %.4g pages, 9 is %.4g%s', least, most, target > 0 ? \
		sprintf(', * more than %.4g', target) : '')
	plot data index 1 using 1:2:(digit($3) . (target > 0 && $3 > target ? '*' : '')) with labels
} else {
	set view map
	set lmargin at screen 0.11
	set rmargin at screen 0.84
	set bmargin at screen 0.12
	set tmargin at screen 0.90
	set ylabel offset -2
	set palette defined (0 '#f7fbff', 0.5 '#56b4e9', 1 '#00324f')
	set logscale cb
	set cbrange [least:most]
	set cblabel 'pages' offset 1
	set cbtics ()
	do for [part = 0:4] {
		tic = least * (most / least) ** (part / 4.0)
		set cbtics add (sprintf('%.0f', tic) tic)
	}
	set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0.4, 0.3
	set pm3d interpolate 8,8
	unset grid
	if (target > 0) {
		set contour base
		set cntrparam levels discrete target
		set cntrlabel onecolor
		set title shown('Error of a read, 99th percentile') . sprintf("\n(line: %.4g pages)", target)
	}
	splot data index 1 using 1:2:3 with pm3d, \
		data index 1 using 1:2:3 with lines linecolor rgb '#d55e00' linewidth 4 nosurface, \
		data index 1 using 1:2:3:(sprintf('%.0f', $3)) with labels font ',11' boxed nocontour
}
