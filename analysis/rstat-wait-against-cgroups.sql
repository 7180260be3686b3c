-- rstat-wait-against-cgroups.sql - the wait for the rstat lock against the number of cgroups.
--
--	sqlite3 out.db < analysis/rstat-wait-against-cgroups.sql > wait.dat
--	gnuplot -e "data='wait.dat'; out='wait.png'" analysis/rstat-wait-against-cgroups.gp
--
-- Each variant is a point, the mean over its replications; variants with the same `flush` and `rstat_lock`
-- make a curve. The wait is that of all acquisitions, those without one included; the hold is the mean of the
-- longest. Cgroups are those below the root. Data file: docs/figures.md.
--
-- index 0       "scenario" "" number-of-curves
-- index 1 + k   "flush, rstat_lock"; then cgroups, us waited an acquisition, longest hold in us

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
of_run AS (
	SELECT run_id, scenario,
		printf('%s, %s', json_extract(modules, '$.flush'), json_extract(modules, '$.rstat_lock')) AS curve,
		(SELECT count(*) - 1 FROM summary
			WHERE summary.run_id = run.run_id AND metric = 'memory.current') AS cgroups,
		1e-3 * wait_total_ns / acquisitions AS wait, 1e-3 * hold_max_ns AS hold
	FROM chosen JOIN run USING (experiment) JOIN lock_stat USING (run_id)
	WHERE status = 'done' AND lock IN ('cgroup_rstat_lock', 'rstat_ss_lock') AND acquisitions > 0
),
point AS (
	SELECT curve, cgroups, avg(wait) AS wait, avg(hold) AS hold FROM of_run GROUP BY curve, cgroups
),
shown AS ( -- one number of cgroups is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM of_run
	WHERE (SELECT count(DISTINCT cgroups) FROM of_run) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d', replace(scenario, '"', ''''), count(*))
	FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, cgroups, printf('%d %.6g %.6g', cgroups, wait, hold)
	FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
