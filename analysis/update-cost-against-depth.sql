-- update-cost-against-depth.sql - what an operation costs against the depth of the cgroup that it is done in.
--
--	sqlite3 out.db < analysis/update-cost-against-depth.sql > depth.dat
--	gnuplot -e "data='depth.dat'; out='depth.png'" analysis/update-cost-against-depth.gp
--
-- Each variant is a point, the mean over its replications; variants with the same `stat_update` make a curve.
-- An operation's cost is the CPU time in the kernel that was not spent spinning, by the tasks' own count of
-- what they did; the depth is that of the deepest cgroup with tasks. Data file: docs/figures.md.
--
-- index 0       "scenario" "" number-of-curves
-- index 1 + k   "stat_update k"; then depth, ns an operation

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
of_run AS (
	SELECT run_id, scenario, json_extract(modules, '$.stat_update') AS curve,
		max(length(entity) - length(replace(entity, '/', '')) - (entity = '/'))
			FILTER (WHERE metric = 'task.ops' AND entity LIKE '/%') AS depth,
		(max(value) FILTER (WHERE metric = 'time.sys') - max(value) FILTER (WHERE metric = 'time.spin')) /
			sum(value) FILTER (WHERE metric = 'task.ops' AND entity NOT LIKE '/%') AS cost
	FROM chosen JOIN run USING (experiment) JOIN summary USING (run_id)
	WHERE status = 'done' AND metric IN ('task.ops', 'time.sys', 'time.spin')
	GROUP BY run_id
),
point AS (
	SELECT curve, depth, avg(cost) AS cost FROM of_run WHERE cost IS NOT NULL GROUP BY curve, depth
),
shown AS ( -- one depth is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM of_run
	WHERE (SELECT count(DISTINCT depth) FROM point) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d', replace(scenario, '"', ''''), count(*)) FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, depth, printf('%d %.6g', depth, cost) FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
