-- error-by-period-and-cpus.sql - how wrong reads are by the period of the flushing worker and the number of CPUs.
--
--	sqlite3 out.db < analysis/error-by-period-and-cpus.sql > error.dat
--	gnuplot -e "data='error.dat'; out='error.png'" analysis/error-by-period-and-cpus.gp
--
-- Each variant is a cell, the mean over its replications: host.cpus as it set it, flush.period as it came out,
-- rounded to one digit, and the 99th percentile of staleness.pages of one entity. Where `statistics:
-- error_target` is set, a contour parts what is within it from what is not. Data file: docs/figures.md.
--
-- index 0       "scenario" "entity" number-of-cells target (0: none)
-- index 1       CPUs, period in s, pages; a block of lines (after an empty one) for each number of CPUs

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment,
		coalesce(:entity, 'all') AS entity
),
of_run AS (
	SELECT scenario, pages.entity AS entity, cpus,
		CAST(printf('%.1g', 1e-9 * period.value) AS REAL) AS period, pages.value AS pages,
		(SELECT value FROM summary WHERE summary.run_id = run.run_id
			AND metric = 'staleness.pages.target') AS target
	FROM chosen JOIN run USING (experiment) JOIN run_cpus USING (run_id) JOIN summary AS pages USING (run_id)
		JOIN summary AS period ON period.run_id = run.run_id AND period.metric = 'flush.period'
	WHERE status = 'done' AND pages.metric = 'staleness.pages.p99' AND pages.entity = chosen.entity
		AND cpus IS NOT NULL
),
cell AS (
	SELECT cpus, period, avg(pages) AS pages FROM of_run GROUP BY cpus, period
),
line (block, row, col, text) AS (
	SELECT 0, 0, 0, printf('"%s" "%s" %d %g', replace(scenario, '"', ''''), replace(entity, '"', ''''),
		(SELECT count(*) FROM cell), coalesce(max(target), 0))
	FROM of_run GROUP BY entity
	UNION ALL SELECT DISTINCT 1, 0, 0, char(10) FROM of_run
	UNION ALL SELECT DISTINCT 1, cpus, -1, '' FROM cell WHERE cpus > (SELECT min(cpus) FROM cell)
	UNION ALL SELECT 1, cpus, period, printf('%d %g %.6g', cpus, period, pages) FROM cell
)
SELECT text FROM line ORDER BY block, row, col;
