-- time-to-end.sql - when a node ends on which cgroups leak, and of what, against the CPUs that it may ever have.
--
--	sqlite3 out.db < analysis/time-to-end.sql > end.dat
--	gnuplot -e "data='end.dat'; out='end.png'" analysis/time-to-end.gp
--
-- The end is the first mkdir that fails for want of ids or memory (cgroup.refused_at). Each variant is a point: the
-- mean over its replications, and the earliest and latest of them. CPUs are the possible ones that the variant
-- sets (run_cpus); variants whose names differ in a number at the end alone make a curve.
-- Data file: docs/figures.md.
--
-- index 0       "scenario" "" number-of-curves
-- index 1 + k   "curve k"; then CPUs, days: mean, earliest, latest; MiB at the end: Percpu, Slab; "why"

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
refused AS (
	SELECT run_id, min(value) / 864e11 AS days, entity AS why
	FROM chosen JOIN run USING (experiment) JOIN summary USING (run_id)
	WHERE status = 'done' AND metric = 'cgroup.refused_at' AND entity LIKE 'ENO%: %'
	GROUP BY run_id
),
of_run AS (
	SELECT run_id, scenario, rtrim(rtrim(variant, '0123456789'), ' -_') AS curve, days, why,
		possible_cpus AS cpus,
		(SELECT value / 1048576 FROM summary
			WHERE summary.run_id = run.run_id AND metric = 'meminfo.Percpu') AS percpu,
		(SELECT value / 1048576 FROM summary
			WHERE summary.run_id = run.run_id AND metric = 'meminfo.Slab') AS slab
	FROM refused JOIN run USING (run_id) JOIN run_cpus USING (run_id)
),
point AS (
	SELECT curve, cpus, avg(days) AS days, min(days) AS earliest, max(days) AS latest,
		avg(percpu) AS percpu, avg(slab) AS slab, min(why) AS why
	FROM of_run WHERE cpus IS NOT NULL GROUP BY curve, cpus
),
shown AS ( -- one number of CPUs is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM of_run
	WHERE (SELECT count(DISTINCT cpus) FROM point) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d', replace(scenario, '"', ''''), count(*)) FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, cpus, printf('%d %.6g %.6g %.6g %.6g %.6g "%s"', cpus, days, earliest, latest, percpu,
		slab, why)
	FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
