# terminal.gp - what all figures share: terminal, colours, the line that says what is shown.
#
# Variables that the caller may set with gnuplot -e, before:
#	term   'pngcairo' (default), 'svg', or 'dumb' for text in 75 columns
#	out    the file to write; without it the text of 'dumb' goes to the terminal
# A figure may set tall, the factor by which it is taller than others; keys, the lines of its key, if they are not
# one a variant; and stacked, the number of panels above each other that share its height.
#
# The colours are those of Okabe and Ito, which colour-blind readers can tell apart, and a grey; dash patterns
# say the same once more for print. From the ninth curve on the hues come again, dark and then light, with other
# patterns and points, so that 20 curves have colours of their own.

if (!exists("term")) term = 'pngcairo'
if (!exists("tall")) tall = 1
if (!exists("stacked")) stacked = 1
is_text = term eq 'dumb'
gap = is_text ? ' ' : '' # between a sample of the line and its name

# From index 0 of the data: the scenario and entity that are shown, the number of variants.
set datafile missing '?'
stats data index 0 using (scenario = strcol(1), entity = strcol(2), nr = $3, 0) nooutput
if (!exists("keys")) keys = nr
more = keys > 6 ? stacked * (keys - 6) : 0 # lines of the key beyond those that there is room for
if (is_text) {
	set terminal dumb noenhanced size 75, int(24 * tall) + more
} else { if (term eq 'svg') {
	set terminal svg noenhanced size 900, int(560 * tall) + 19 * more font 'DejaVu Sans,14' background '#ffffff'
} else {
	set terminal pngcairo noenhanced size 1350, int(840 * tall) + 26 * more font 'DejaVu Sans,15' fontscale 1.1
} }
if (exists("out")) set output out

set encoding utf8
set border 3
set tics nomirror out
set key below left reverse Left maxcols 1
if (is_text) {
	set border 2 # leaves the lowest line to the data
	set key samplen 3
} else {
	set grid back linetype 1 linecolor rgb '#dddddd' linewidth 1
	set key height 0.5
	set lmargin 13
	colours = 20
	array colour[20]
	array hue[8] = [ 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000, 0x999999 ]
	# Each of red, green and blue with a part of white or, where that is 0, of black.
	mix(c, part, white) = int(part * c + (1 - part) * white)
	mixed(c, part, white) = (mix(c >> 16, part, white) << 16) + (mix((c >> 8) & 255, part, white) << 8) \
		+ mix(c & 255, part, white)
	do for [i = 1:8] { colour[i] = hue[i] }
	do for [i = 1:6] {
		colour[8 + i] = mixed(hue[i], 0.55, 0)
		colour[14 + i] = mixed(hue[i], 0.45, 255)
	}
	array dashes[8] = [ '', '_', '-', '_.', '.', '_..', '-.', '' ]
	array points[4] = [ 7, 5, 9, 13 ]
	do for [i = 1:32] {
		turn = (i - 1) / 8
		set linetype i linecolor rgb colour[(i - 1) % colours + 1] linewidth 2.5 \
			dashtype dashes[((i - 1) % 8 + 3 * turn) % 8 + 1] pointtype points[turn + 1] pointsize 1.4
	}
	set linetype 1 dashtype solid
}

# set_ylabel is a command: @set_ylabel writes the text of ylabel where it can be read. A page of text has no
# room for it beside the tics.
set_ylabel = is_text ? "set label 1 ylabel at graph 0, graph 1 offset 0, 1" : "set ylabel ylabel"

of_entity = entity eq '' || entity eq 'all' ? '' : ' of ' . entity
shown(what) = what . of_entity . ', ' . scenario . ' (simulated)'
