-- staleness-over-time.sql - how wrong and how old statistics are while a run goes on, a curve a variant.
--
--	sqlite3 out.db < analysis/staleness-over-time.sql > stale.dat
--	gnuplot -e "data='stale.dat'; out='stale.png'" analysis/staleness-over-time.gp
--
-- Shows the samples of staleness.pages and staleness.age of one entity, each point the mean over the
-- replications, and when the whole tree was flushed. Parameters and data file: docs/figures.md.
--
-- index 0       "scenario" "entity" number-of-variants
-- index 1 + k   "variant k"; then seconds of simulated time, pages, seconds of age (? where there is none)
-- last index    a line a flush of the whole tree: number of the variant, seconds; of the variant's first run

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment,
		coalesce(:entity, 'all') AS entity
),
point AS (
	SELECT variant, t_ns,
		avg(value) FILTER (WHERE metric = 'staleness.pages') AS pages,
		avg(value) FILTER (WHERE metric = 'staleness.age') * 1e-9 AS age
	FROM chosen JOIN run USING (experiment) JOIN sample USING (run_id, entity)
	WHERE status = 'done' AND metric IN ('staleness.pages', 'staleness.age')
	GROUP BY variant, t_ns
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM point)
	GROUP BY variant
),
mark AS (
	SELECT k, t_ns * 1e-9 AS t
	FROM shown JOIN sample ON sample.run_id = (SELECT min(run_id) FROM chosen JOIN run USING (experiment)
			WHERE run.variant = shown.variant AND status = 'done')
	WHERE metric = 'flush.root'
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(entity, '"', ''''),
		count(*))
	FROM chosen, shown GROUP BY entity
	UNION ALL SELECT 1 + count(*), -1, char(10) || char(10) || '-1 0' FROM shown HAVING count(*)
	UNION ALL SELECT 1 + (SELECT count(*) FROM shown), t, printf('%d %.9g', k, t) FROM mark
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(variant, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, t_ns, printf('%.9g %s %s', t_ns * 1e-9, coalesce(printf('%.6g', pages), '?'),
		coalesce(printf('%.6g', age), '?'))
	FROM point JOIN shown USING (variant)
)
SELECT text FROM line ORDER BY block, row;
