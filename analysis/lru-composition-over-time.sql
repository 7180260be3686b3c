-- lru-composition-over-time.sql - what the memory of a cgroup is made of, a panel a variant.
--
--	sqlite3 out.db < analysis/lru-composition-over-time.sql > lru-composition-over-time.dat
--	gnuplot -e "data='lru-composition-over-time.dat'; out='lru-composition-over-time.png'" analysis/lru-composition-over-time.gp
--
-- Means over the replications, of one cgroup: the first by name below the root, or :entity. Parameters and data
-- file: docs/figures.md.
--
-- index 0       "scenario" "entity" number-of-variants
-- index 1 + k   "variant k"; then seconds of simulated time, and MiB of active file, inactive file, active anon,
--               inactive anon

WITH
chosen AS (
	SELECT experiment, coalesce(:entity, (
		SELECT min(entity) FROM run JOIN sample USING (run_id)
		WHERE run.experiment = newest.experiment AND metric = 'memory.stat.active_file' AND entity <> '/'
	), '/') AS entity
	FROM (
		SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
	) AS newest
),
point AS (
	SELECT variant, t_ns,
		avg(value / 1048576) FILTER (WHERE metric = 'memory.stat.active_file') AS af,
		avg(value / 1048576) FILTER (WHERE metric = 'memory.stat.inactive_file') AS i_f,
		avg(value / 1048576) FILTER (WHERE metric = 'memory.stat.active_anon') AS aa,
		avg(value / 1048576) FILTER (WHERE metric = 'memory.stat.inactive_anon') AS ia
	FROM chosen JOIN run USING (experiment) JOIN sample USING (run_id, entity)
	WHERE status = 'done' AND metric IN ('memory.stat.active_file', 'memory.stat.inactive_file', 'memory.stat.active_anon', 'memory.stat.inactive_anon')
	GROUP BY variant, t_ns
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM point)
	GROUP BY variant
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(entity, '"', ''''),
		count(*))
	FROM chosen, shown GROUP BY entity
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(variant, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, t_ns, printf('%.9g %s %s %s %s', t_ns * 1e-9, coalesce(printf('%.6g', af), '?'),
		coalesce(printf('%.6g', i_f), '?'),
		coalesce(printf('%.6g', aa), '?'),
		coalesce(printf('%.6g', ia), '?'))
	FROM point JOIN shown USING (variant)
)
SELECT text FROM line ORDER BY block, row;
