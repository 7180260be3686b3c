-- dying-over-days.sql - dying cgroups over days, a colour a variant, and the kernel's memory for cgroups by class.
--
--	sqlite3 out.db < analysis/dying-over-days.sql > dying-over-days.dat
--	gnuplot -e "data='dying-over-days.dat'; out='dying-over-days.png'" analysis/dying-over-days.gp
--
-- Means over the replications. Classes are those of ledger.bytes, per-CPU ones on all possible CPUs, of one
-- variant: that with most bytes, or :entity. Parameters and data file: docs/figures.md.
--
-- index 0            "scenario" "variant of the classes" number-of-variants
-- index 1 + k        "variant k"; then days of simulated time, dying cgroups of the machine
-- index 1 + variants then days, MiB: per-CPU statistics, other per-CPU, and slab: memcg and lruvec, the rest

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
point AS (
	SELECT variant, t_ns, avg(value) AS dying
	FROM chosen JOIN run USING (experiment) JOIN sample USING (run_id)
	WHERE status = 'done' AND metric = 'nr_dying_descendants' AND entity = '/'
	GROUP BY variant, t_ns
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM point)
	GROUP BY variant
),
bytes AS (
	SELECT variant, t_ns, entity, avg(value) / 1048576 AS mib
	FROM chosen JOIN run USING (experiment) JOIN sample USING (run_id)
	WHERE status = 'done' AND metric = 'ledger.bytes'
	GROUP BY variant, t_ns, entity
),
most AS (
	SELECT coalesce(:entity, (SELECT variant FROM bytes GROUP BY variant ORDER BY max(mib) DESC LIMIT 1)) AS variant
),
class AS (
	SELECT t_ns,
		sum(mib) FILTER (WHERE entity = 'percpu_stat') AS stat,
		sum(mib) FILTER (WHERE entity = 'percpu_base') AS base,
		sum(mib) FILTER (WHERE entity IN ('memcg', 'lruvec')) AS memcg,
		sum(mib) FILTER (WHERE entity NOT IN ('percpu_stat', 'percpu_base', 'memcg', 'lruvec')) AS rest
	FROM bytes JOIN most USING (variant) GROUP BY t_ns
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(most.variant, '"', ''''),
		count(*))
	FROM most, shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(variant, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, t_ns, printf('%.9g %.6g', t_ns / 864e11, dying)
	FROM point JOIN shown USING (variant)
	UNION ALL SELECT 1000000, -2, char(10) WHERE (SELECT count(*) FROM class)
	UNION ALL SELECT 1000000, -1, '"classes"' WHERE (SELECT count(*) FROM class)
	UNION ALL SELECT 1000000, t_ns, printf('%.9g %.6g %.6g %.6g %.6g', t_ns / 864e11, stat, base, memcg, rest)
	FROM class
)
SELECT text FROM line ORDER BY block, row;
