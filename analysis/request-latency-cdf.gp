# request-latency-cdf.gp - draws the data of request-latency-cdf.sql as read-latency-cdf.gp draws that of reads.

set loadpath 'analysis'
what = 'request'
load 'read-latency-cdf.gp'
