# error-by-period-and-cpus.gp - draws the data of error-by-period-and-cpus.sql, where it is explained how.
#
# Cells in colour; on a page of text, digits from 0 to 9 on a scale of logarithms from the least to the most.

set loadpath 'analysis'
load 'terminal.gp'

stats data index 0 using (target = $4, 0) nooutput
stats data index 1 using 3 name 'pages' nooutput
least = pages_min > 1 ? pages_min : 1
most = pages_max > least ? pages_max : least + 1

set title shown('Error of a read, 99th percentile')
set logscale x 2
set logscale y
set xlabel 'CPUs'
ylabel = 'period of the flushing worker, s'
@set_ylabel
unset key
if (is_text) { set title offset 0, 1; set tmargin 4 }
if (is_text) {
	digit(p) = sprintf('%d', p > least ? int(9.99 * log(p / least) / log(most / least)) : 0)
	set xlabel sprintf('CPUs; 0 is %.3g pages, 9 is %.3g%s', least, most, target > 0 ? \
		sprintf(', * more than %.3g', target) : '')
	set offsets graph 0.08, graph 0.08, graph 0.1, graph 0.1
	plot data index 1 using 1:2:(digit($3) . (target > 0 && $3 > target ? '*' : '')) with labels
} else {
	set view map
	set palette defined (0 '#f7fbff', 0.5 '#56b4e9', 1 '#00324f')
	set logscale cb
	set cbrange [least:most]
	set cblabel 'pages'
	set autoscale noextend
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
		data index 1 using 1:2:3:(sprintf('%.0f', $3)) with labels nocontour font ',11'
}
