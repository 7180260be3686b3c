# offline-latency-cdf.gp - draws the data of offline-latency-cdf.sql as read-latency-cdf.gp draws that of reads.

set loadpath 'analysis'
what = 'removal'
load 'read-latency-cdf.gp'
