-- shadow-nodes-over-time.sql - shadow nodes of a cgroup and what they are allowed, a colour a variant.
--
--	sqlite3 out.db < analysis/shadow-nodes-over-time.sql > nodes.dat
--	gnuplot -e "data='nodes.dat'; out='nodes.png'" analysis/shadow-nodes-over-time.gp
--
-- Shows shadow nodes, and an eighth of LRU pages and kernel objects; of one cgroup: the first by name below the
-- root, or :entity.

.parameter set :metrics workingset.cgroup_nodes,workingset.cgroup_budget
.read analysis/lru-composition-over-time.sql
