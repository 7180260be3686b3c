-- request-latency-cdf.sql - how long requests of a service take: the distribution, a curve a variant.
--
--	sqlite3 out.db < analysis/request-latency-cdf.sql > cdf.dat
--	gnuplot -e "data='cdf.dat'; out='cdf.png'" analysis/request-latency-cdf.gp
--
-- Shows service.latency of one service by name: the first, or :entity.

.parameter set :metric service.latency
.read analysis/read-latency-cdf.sql
