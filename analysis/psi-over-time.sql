-- psi-over-time.sql - memory pressure while a run goes on, a curve a variant.
--
--	sqlite3 out.db < analysis/psi-over-time.sql > psi-over-time.dat
--	gnuplot -e "data='psi-over-time.dat'; out='psi-over-time.png'" analysis/psi-over-time.gp
--
-- Means over the replications of memory.pressure avg10, of one cgroup: the first by name below the root, or
-- :entity. Parameters and data file: docs/figures.md.
--
-- index 0       "scenario" "entity" number-of-variants
-- index 1 + k   "variant k"; then seconds of simulated time, per cent of time that some task, and that all tasks
--               were stalled

WITH
chosen AS (
	SELECT experiment, coalesce(:entity, (
		SELECT min(entity) FROM run JOIN sample USING (run_id)
		WHERE run.experiment = newest.experiment AND metric = 'memory.pressure.some.avg10' AND entity <> '/'
	), '/') AS entity
	FROM (
		SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
	) AS newest
),
point AS (
	SELECT variant, t_ns,
		avg(value) FILTER (WHERE metric = 'memory.pressure.some.avg10') AS some,
		avg(value) FILTER (WHERE metric = 'memory.pressure.full.avg10') AS full
	FROM chosen JOIN run USING (experiment) JOIN sample USING (run_id, entity)
	WHERE status = 'done' AND metric IN ('memory.pressure.some.avg10', 'memory.pressure.full.avg10')
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
	UNION ALL SELECT 1 + k, t_ns, printf('%.9g %s %s', t_ns * 1e-9, coalesce(printf('%.6g', some), '?'),
		coalesce(printf('%.6g', full), '?'))
	FROM point JOIN shown USING (variant)
)
SELECT text FROM line ORDER BY block, row;
