-- lock-wait-against-cpus.sql - the wait for the most waited-for lock against the number of CPUs that want it.
--
--	sqlite3 out.db < analysis/lock-wait-against-cpus.sql > wait.dat
--	gnuplot -e "data='wait.dat'; out='wait.png'" analysis/lock-wait-against-cpus.gp
--
-- Each variant is a point, the mean over its replications; those with the same `stat_update` make a curve.
-- CPUs are what the variant sets a `count` of tasks to, or host.cpus (run_cpus.threads). The lock is :entity, a
-- class of lock_stat, or the one that all runs together waited for longest. The wait is that of all
-- acquisitions, those without one included. Data file: docs/figures.md.
--
-- index 0       "scenario" "lock" number-of-curves
-- index 1 + k   "stat_update k"; then CPUs, us waited an acquisition, mean hold in us

WITH
chosen AS (
	SELECT experiment, coalesce(:entity, (
		SELECT lock FROM run JOIN lock_stat USING (run_id) WHERE run.experiment = newest.experiment
		GROUP BY lock ORDER BY sum(wait_total_ns) DESC, lock LIMIT 1
	)) AS lock
	FROM (
		SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
	) AS newest
),
of_run AS (
	SELECT run_id, scenario, json_extract(modules, '$.stat_update') AS curve,
		threads AS cpus, 1e-3 * wait_total_ns / acquisitions AS wait, 1e-3 * hold_total_ns / acquisitions AS hold
	FROM chosen JOIN run USING (experiment) JOIN run_cpus USING (run_id) JOIN lock_stat USING (run_id, lock)
	WHERE status = 'done' AND acquisitions > 0
),
point AS (
	SELECT curve, cpus, avg(wait) AS wait, avg(hold) AS hold
	FROM of_run WHERE cpus IS NOT NULL
	GROUP BY curve, cpus
),
shown AS ( -- one number of CPUs is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM of_run
	WHERE (SELECT count(DISTINCT cpus) FROM point) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(lock, '"', ''''), count(*))
	FROM chosen, shown GROUP BY lock
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, cpus, printf('%d %.6g %.6g', cpus, wait, hold)
	FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
