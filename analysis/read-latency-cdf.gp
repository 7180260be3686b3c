# read-latency-cdf.gp - draws the data of read-latency-cdf.sql, where it is explained how. A caller may set `what`.

set loadpath 'analysis'
load 'terminal.gp'
if (!exists('what')) what = 'read'
blocks = 2
load 'share-axis.gp'

set title shown('Latency of ' . what . 's')
plot for [k = 0:nr - 1] data index 1 + 2 * k using (at($1)):(stretched($2)) with lines linetype k + 1 \
		title gap . columnheader(1), \
	for [k = 0:nr - 1] data index 2 + 2 * k using (at($1)):(stretched($2)) with points linetype k + 1 notitle
