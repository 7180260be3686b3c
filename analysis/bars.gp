# bars.gp - lying bars, so that the names beside them can be read: a group for each class, a bar a variant in it, each
# with its number as text, since lengths alone do not tell it.
#
# In place of terminal.gp, which it loads. Data: index 0 has the number of classes behind that of variants; index
# 1 + k class from 0 on, value, "class", "value as text". The caller draws with y(class, k) and half;
# `most` is the largest value.

stats data index 0 using (bars = $3 * $4, classes = $4, 0) nooutput
tall = bars > 18 ? bars / 18.0 : 1 # so that the numbers stay apart
load 'terminal.gp'

most = 0.0
do for [k = 0:nr - 1] {
	stats data index 1 + k every ::1 using (most = $2 > most ? $2 : most, 0) nooutput
}
thick = is_text ? 1.0 / (nr + 1) : 0.8 / nr # in text a line each, and one between classes
half = is_text ? 0 : thick * 0.47 # a bar of text is one line of characters
y(class, k) = class + (k - (nr - 1) / 2.0) * thick

set yrange [classes - 0.5:-0.5]
set ytics scale 0
unset lmargin
if (is_text) {
	set terminal dumb noenhanced size 75, 9 + nr + classes * (nr + 1)
} else {
	set style fill solid noborder
	set grid noytics
}
