-- read-latency-cdf.sql - how long reads of statistics take: the distribution, a curve a variant.
--
--	sqlite3 out.db < analysis/read-latency-cdf.sql > cdf.dat
--	gnuplot -e "data='cdf.dat'; out='cdf.png'" analysis/read-latency-cdf.gp
--
-- Shows stat.read_latency of one entity, replications added up, or the distribution that :metric names: so do
-- offline-latency-cdf.sql and request-latency-cdf.sql. Parameters and data file: docs/figures.md.
--
-- index 0        "scenario" "entity" number-of-variants
-- index 1 + 2k   "variant k and its quantiles"; then seconds, share of all that took less,
--                at both ends of each bucket and at the quantiles
-- index 2 + 2k   seconds, share: the quantiles of 50, 90, 99 and 99.9 %

WITH
asked AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment,
		coalesce(:metric, 'stat.read_latency') AS metric
),
chosen AS ( -- all together, or else the first
	SELECT *, coalesce(:entity, (
		SELECT entity FROM asked JOIN run USING (experiment) JOIN histogram USING (run_id, metric)
		ORDER BY entity <> 'all', entity LIMIT 1
	)) AS entity
	FROM asked
),
bucket AS (
	SELECT variant, lo * 1e-9 AS lo, hi * 1e-9 AS hi, sum(count) AS nr
	FROM chosen JOIN run USING (experiment) JOIN histogram USING (run_id, metric, entity)
	WHERE status = 'done'
	GROUP BY variant, lo, hi
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM bucket)
	GROUP BY variant
),
cdf AS (
	SELECT variant, k, lo, hi, (sum(nr) OVER below - nr) * 1.0 / sum(nr) OVER whole AS before,
		sum(nr) OVER below * 1.0 / sum(nr) OVER whole AS share
	FROM bucket JOIN shown USING (variant)
	WINDOW whole AS (PARTITION BY variant), below AS (PARTITION BY variant ORDER BY lo)
),
quantile AS ( -- interpolated in its bucket
	SELECT variant, k, q, lo + (hi - lo) * (q - before) / (share - before) AS at
	FROM (SELECT 0.5 AS q UNION SELECT 0.9 UNION SELECT 0.99 UNION SELECT 0.999) JOIN cdf
		ON before < q AND q <= share
),
written AS ( -- 12.3 us
	SELECT variant, q, CASE
		WHEN at < 1e-6 THEN printf('%.3g ns', at * 1e9)
		WHEN at < 1e-3 THEN printf('%.3g us', at * 1e6)
		WHEN at < 1 THEN printf('%.3g ms', at * 1e3)
		ELSE printf('%.3g s', at) END AS text
	FROM quantile
),
legend AS (
	SELECT variant, printf('%s  (p50 %s, p99 %s)', variant, median.text, high.text) AS text
	FROM written AS median JOIN written AS high USING (variant)
	WHERE median.q = 0.5 AND high.q = 0.99
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(entity, '"', ''''),
		count(*))
	FROM chosen, shown GROUP BY entity
	UNION ALL SELECT 1 + 2 * k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + 2 * k, -1, printf('"%s"', replace(text, '"', ''''))
	FROM shown JOIN legend USING (variant)
	UNION ALL SELECT 1 + 2 * k, lo, printf('%.6g %.9g', lo, before) FROM cdf
	UNION ALL SELECT 1 + 2 * k, hi, printf('%.6g %.9g', hi, share) FROM cdf
	UNION ALL SELECT 1 + 2 * k, at, printf('%.6g %.9g', at, q) FROM quantile
	UNION ALL SELECT 2 + 2 * k, -2, char(10) FROM shown
	UNION ALL SELECT 2 + 2 * k, q, printf('%.6g %.9g', at, q) FROM quantile
)
SELECT text FROM line ORDER BY block, row;
