-- list-lru-wait-against-cgroups.sql - the wait for a lock of list_lru against the number of cgroups.
--
--	sqlite3 out.db < analysis/list-lru-wait-against-cgroups.sql > wait.dat
--	gnuplot -e "data='wait.dat'; out='wait.png'" analysis/list-lru-wait-against-cgroups.gp
--
-- Each variant is a point, the mean over its replications; variants with the same `list_lru_lock` make a curve.
-- The wait is that of all acquisitions, those without one included; the share is that of the time that all
-- tasks waited in the CPU time in the kernel. Cgroups are those below the root. Data file: docs/figures.md.
--
-- index 0       "scenario" "" number-of-curves
-- index 1 + k   "list_lru_lock k"; then cgroups, ns an acquisition, share of kernel time in %

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
of_run AS (
	SELECT run_id, scenario, json_extract(modules, '$.list_lru_lock') AS curve,
		(SELECT count(*) - 1 FROM summary
			WHERE summary.run_id = run.run_id AND metric = 'memory.current') AS cgroups,
		(SELECT value FROM summary WHERE summary.run_id = run.run_id AND metric = 'time.sys') AS sys,
		acquisitions, wait_total_ns
	FROM chosen JOIN run USING (experiment) JOIN lock_stat USING (run_id)
	WHERE status = 'done' AND lock IN ('list_lru_node->lock', 'list_lru_one->lock') AND acquisitions > 0
),
point AS (
	SELECT curve, cgroups, avg(1.0 * wait_total_ns / acquisitions) AS wait,
		avg(100 * wait_total_ns / sys) AS share
	FROM of_run GROUP BY curve, cgroups
),
shown AS ( -- one number is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM of_run WHERE (SELECT count(DISTINCT cgroups) FROM point) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d', replace(scenario, '"', ''''), count(*))
	FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, cgroups, printf('%d %.6g %.6g', cgroups, wait, share)
	FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
