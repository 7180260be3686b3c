# psi-over-time.gp - draws the data of psi-over-time.sql, where it is explained how.

set loadpath 'analysis'
tall = 1.4
stacked = 2
load 'terminal.gp'
load 'time-axis.gp'
if (!is_text) { set rmargin 5 } # for the last tic of a long run

set multiplot layout 2, 1 title shown('Memory pressure')
set yrange [0:*]

ylabel = 'some, avg10, %'
@set_ylabel
unset key
plot for [k = 0:nr - 1] data index 1 + k using (at($1)):2 with lines linetype k + 1 title gap . columnheader(1)

set key
ylabel = 'full, avg10, %'
@set_ylabel
plot for [k = 0:nr - 1] data index 1 + k using (at($1)):3 with lines linetype k + 1 title gap . columnheader(1)
unset multiplot
