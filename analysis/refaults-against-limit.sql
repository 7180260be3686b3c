-- refaults-against-limit.sql - the cliff: refaults and hit rate of a cgroup against its memory.max.
--
--	sqlite3 out.db < analysis/refaults-against-limit.sql > cliff.dat
--	gnuplot -e "data='cliff.dat'; out='cliff.png'" analysis/refaults-against-limit.gp
--
-- Each variant with a limit is a point, the mean over its replications, of one cgroup: the first by name that has
-- a limit, or :entity. Variants with the same `reclaim` make a curve. Refaults are those of file and anonymous
-- pages in a second of simulated time (warm-up not counted where a run has counters without it); the hit rate is
-- the share of accesses to files that were in the cache, of the cgroup's own tasks. Data file: docs/figures.md.
--
-- index 0       "scenario" "entity" number-of-curves
-- index 1 + k   "reclaim k"; then MiB of limit, refaults a second, hit rate in % (? where there is none)

WITH
chosen AS (
	SELECT experiment, coalesce(:entity, (
		SELECT min(entity) FROM run JOIN summary USING (run_id)
		WHERE run.experiment = newest.experiment AND metric = 'memory.max'
	)) AS entity
	FROM (
		SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
	) AS newest
),
of_run AS (
	SELECT run_id, scenario, json_extract(modules, '$.reclaim') AS curve,
		max(value) FILTER (WHERE metric = 'memory.max') / 1048576 AS mib,
		coalesce(sum(value) FILTER (WHERE metric GLOB 'memory.stat.workingset_refault_*'), 0) AS refaults,
		max(value) FILTER (WHERE metric = 'task.ops') / max(value) FILTER (WHERE metric = 'task.rate') AS seconds,
		max(value) FILTER (WHERE metric = 'task.file_reads') AS reads,
		max(value) FILTER (WHERE metric = 'task.file_misses') AS misses
	FROM chosen JOIN run USING (experiment) JOIN summary USING (run_id, entity)
	WHERE status = 'done'
	GROUP BY run_id
),
point AS (
	SELECT curve, mib, avg(refaults / seconds) AS rate, avg(100 - 100 * misses / reads) AS hits
	FROM of_run WHERE mib IS NOT NULL
	GROUP BY curve, mib
),
shown AS ( -- one limit is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM of_run WHERE mib IS NOT NULL AND (SELECT count(DISTINCT mib) FROM point) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(entity, '"', ''''),
		count(*))
	FROM chosen, shown GROUP BY entity
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, mib, printf('%.9g %s %s', mib, coalesce(printf('%.6g', rate), '?'),
		coalesce(printf('%.6g', hits), '?'))
	FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
