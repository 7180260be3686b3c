-- psi-over-time.sql - memory pressure while a run goes on, a curve a variant.
--
--	sqlite3 out.db < analysis/psi-over-time.sql > psi.dat
--	gnuplot -e "data='psi.dat'; out='psi.png'" analysis/psi-over-time.gp
--
-- Shows memory.pressure avg10: per cent of time that some task, and that all tasks were stalled; of one cgroup: the
-- first by name below the root, or :entity.

.parameter set :metrics memory.pressure.some.avg10,memory.pressure.full.avg10
.read analysis/lru-composition-over-time.sql
