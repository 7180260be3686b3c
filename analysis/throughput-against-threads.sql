-- throughput-against-threads.sql - work done against the number of threads, and the share of time they spin.
--
--	sqlite3 out.db < analysis/throughput-against-threads.sql > threads.dat
--	gnuplot -e "data='threads.dat'; out='threads.png'" analysis/throughput-against-threads.gp
--
-- Each variant is a point, the mean over its replications; those with the same `stat_update` make a curve.
-- Threads are what the variant sets a `count` to, or host.cpus (run_cpus). Work is that of :entity, or of the first kind
-- of task by name. Data file: docs/figures.md.
--
-- index 0       "scenario" "entity" number-of-curves
-- index 1 + k   "stat_update k"; then threads, operations a second, % of kernel time spent spinning

WITH
chosen AS (
	SELECT experiment, coalesce(:entity, (
		SELECT min(entity) FROM run JOIN summary USING (run_id)
		WHERE run.experiment = newest.experiment AND metric = 'task.rate' AND entity NOT LIKE '/%'
	)) AS entity
	FROM (
		SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
	) AS newest
),
of_run AS (
	SELECT run_id, scenario, json_extract(modules, '$.stat_update') AS curve, threads,
		max(value) FILTER (WHERE metric = 'task.rate' AND summary.entity = chosen.entity) AS rate,
		100 * max(value) FILTER (WHERE metric = 'time.spin') / max(value) FILTER (WHERE metric = 'time.sys') AS spin
	FROM chosen JOIN run USING (experiment) JOIN run_cpus USING (run_id) JOIN summary USING (run_id)
	WHERE status = 'done' AND metric IN ('task.rate', 'time.spin', 'time.sys')
	GROUP BY run_id
),
point AS (
	SELECT curve, threads, avg(rate) AS rate, avg(spin) AS spin
	FROM of_run WHERE threads IS NOT NULL AND rate IS NOT NULL
	GROUP BY curve, threads
),
shown AS ( -- one number of threads is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM of_run
	WHERE (SELECT count(DISTINCT threads) FROM point) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(entity, '"', ''''), count(*))
	FROM chosen, shown GROUP BY entity
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, threads, printf('%d %.6g %s', threads, rate, coalesce(printf('%.6g', spin), '?'))
	FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
