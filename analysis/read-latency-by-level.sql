-- read-latency-by-level.sql - how long reads of statistics take by depth in the tree, a curve a variant and level.
--
--	sqlite3 out.db < analysis/read-latency-by-level.sql > cdf.dat
--	gnuplot -e "data='cdf.dat'; out='cdf.png'" analysis/read-latency-by-level.gp
--
-- A read of the root and of a leaf cost another thing where each flushes what it reads. Shows the histograms of
-- stat.read_latency by level, replications added up. Parameters and data file: docs/figures.md.
--
-- index 0       "scenario" "" number-of-curves
-- index 1 + k   "variant, level and its quantiles", variant, level; then seconds, share of reads that took
--               less, at both ends of each bucket

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
bucket AS (
	SELECT variant, CAST(substr(entity, 7) AS INTEGER) AS level, lo * 1e-9 AS lo, hi * 1e-9 AS hi,
		sum(count) AS reads
	FROM chosen JOIN run USING (experiment) JOIN histogram USING (run_id)
	WHERE status = 'done' AND metric = 'stat.read_latency' AND entity LIKE 'level:%'
	GROUP BY variant, level, lo, hi
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS v
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM bucket)
	GROUP BY variant
),
curve AS (
	SELECT variant, v, level, row_number() OVER (ORDER BY v, level) - 1 AS k
	FROM (SELECT DISTINCT variant, level FROM bucket) JOIN shown USING (variant)
),
cdf AS (
	SELECT variant, level, k, lo, hi,
		(sum(reads) OVER below - reads) * 1.0 / sum(reads) OVER whole AS before,
		sum(reads) OVER below * 1.0 / sum(reads) OVER whole AS share
	FROM bucket JOIN curve USING (variant, level)
	WINDOW whole AS (PARTITION BY variant, level), below AS (PARTITION BY variant, level ORDER BY lo)
),
median AS ( -- interpolated in its bucket
	SELECT k, lo + (hi - lo) * (0.5 - before) / (share - before) AS at
	FROM cdf WHERE before < 0.5 AND 0.5 <= share
),
legend AS (
	SELECT k, v, level, printf('%s, %s (p50 %s)', variant,
		CASE level WHEN 0 THEN 'root' ELSE printf('depth %d', level) END, CASE
		WHEN at < 1e-6 THEN printf('%.3g ns', at * 1e9)
		WHEN at < 1e-3 THEN printf('%.3g us', at * 1e6)
		WHEN at < 1 THEN printf('%.3g ms', at * 1e3)
		ELSE printf('%.3g s', at) END) AS text
	FROM curve JOIN median USING (k)
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d', replace(scenario, '"', ''''), (SELECT count(*) FROM curve))
	FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM legend
	UNION ALL SELECT 1 + k, -1, printf('"%s" %d %d', replace(text, '"', ''''), v, level) FROM legend
	UNION ALL SELECT 1 + k, lo, printf('%.6g %.9g', lo, before) FROM cdf
	UNION ALL SELECT 1 + k, hi, printf('%.6g %.9g', hi, share) FROM cdf
)
SELECT text FROM line ORDER BY block, row;
