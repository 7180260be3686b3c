-- read-latency-histogram.sql - how long reads of statistics take, as `bpftrace` prints a hist(): text, for a mail.
--
--	sqlite3 out.db < analysis/read-latency-histogram.sql
--
-- There is nothing to draw, the rows are the figure: a block a variant, a line a power of two. Shows
-- stat.read_latency of one entity in ns, replications added up. Parameters: docs/figures.md.

WITH RECURSIVE
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment,
		coalesce(:entity, 'all') AS entity
),
power (n, lo, hi) AS ( -- bucket 0 is [0], [1] is [2^0, 2^1)
	VALUES (0, 0, 1)
	UNION ALL SELECT n + 1, hi, 2 * hi FROM power WHERE n < 50
),
counted AS (
	SELECT variant, scenario, entity, n, sum(count) AS reads, min(run_id) AS first
	FROM chosen JOIN run USING (experiment) JOIN histogram USING (run_id, entity)
		JOIN power ON histogram.lo >= power.lo AND histogram.lo < power.hi
	WHERE status = 'done' AND metric = 'stat.read_latency'
	GROUP BY variant, n
),
shown AS (
	SELECT variant, scenario, entity, min(first) AS k, min(n) AS low, max(n) AS high, max(reads) AS most,
		sum(reads) AS total
	FROM counted GROUP BY variant
),
bound (n, text) AS ( -- 1K is 1024, as bpftrace has it
	SELECT n, CASE
		WHEN lo < 1024 THEN printf('%d', lo)
		WHEN lo < 1048576 THEN printf('%dK', lo / 1024)
		WHEN lo < 1073741824 THEN printf('%dM', lo / 1048576)
		ELSE printf('%dG', lo / 1073741824) END
	FROM power
),
line (k, row, text) AS (
	SELECT k, -1, printf('%s@ns[%s%s]: %d reads, %s (simulated)', CASE k WHEN (SELECT min(k) FROM shown)
		THEN '' ELSE char(10) END, variant, CASE entity WHEN 'all' THEN '' ELSE ', ' || entity END, total,
		scenario)
	FROM shown
	UNION ALL SELECT k, power.n, printf('%-14s %9d |%-40s|',
		CASE power.n WHEN 0 THEN '[0]' ELSE printf('[%s, %s)', lower.text, upper.text) END,
		coalesce(reads, 0), substr('@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@', 1,
			coalesce(reads, 0) * 40 / most))
	FROM shown JOIN power ON power.n BETWEEN low AND high
		JOIN bound AS lower ON lower.n = power.n JOIN bound AS upper ON upper.n = power.n + 1
		LEFT JOIN counted ON counted.variant = shown.variant AND counted.n = power.n
)
SELECT text FROM line ORDER BY k, row;
