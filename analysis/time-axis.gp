# time-axis.gp - simulated time along the x axis, in what its length is best told in. For figures whose data are
# seconds in the first column, a block a variant: after terminal.gp, before multiplot. They draw (at($1)).

last_second = 0
do for [k = 0:nr - 1] {
	stats data index 1 + k every ::1 using (last_second = $1 > last_second ? $1 : last_second, 0) nooutput
}
second = last_second > 172800 ? 86400.0 : last_second > 7200 ? 3600.0 : last_second > 300 ? 60.0 : 1.0
at(seconds) = seconds / second
of_time = second > 3600 ? 'days' : second > 60 ? 'h' : second > 1 ? 'min' : 's'
set xlabel 'simulated time, ' . of_time
