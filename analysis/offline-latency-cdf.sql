-- offline-latency-cdf.sql - from rmdir until a cgroup is offline: the distribution, a curve a variant.
--
--	sqlite3 out.db < analysis/offline-latency-cdf.sql > cdf.dat
--	gnuplot -e "data='cdf.dat'; out='cdf.png'" analysis/offline-latency-cdf.gp
--
-- Shows cgroup.offline_latency: the grace period, the queue of removed cgroups and cgroup_mutex.

.parameter set :metric cgroup.offline_latency
.read analysis/read-latency-cdf.sql
