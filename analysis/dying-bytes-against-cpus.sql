-- dying-bytes-against-cpus.sql - what a dying cgroup costs, against the CPUs that the machine may ever have.
--
--	sqlite3 out.db < analysis/dying-bytes-against-cpus.sql > bytes.dat
--	gnuplot -e "data='bytes.dat'; out='bytes.png'" analysis/dying-bytes-against-cpus.gp
--
-- Each variant is a point, the mean over its replications: bytes of all classes of ledger.bytes at the end, by
-- dying cgroup of the machine. CPUs are the possible ones that the variant sets (run_cpus); variants with
-- the same number of nodes (host.nodes, or 1) and the same `dying_percpu` make a curve. Data file: docs/figures.md.
--
-- index 0       "scenario" "" number-of-curves
-- index 1 + k   "curve k"; then CPUs, KiB a cgroup, of them in per-CPU memory

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
of_run AS (
	SELECT run_id, scenario, json_extract(modules, '$.dying_percpu') AS policy,
		coalesce((SELECT CAST(value AS INTEGER) FROM json_each(params) WHERE key = 'host.nodes'), 1) AS nodes,
		possible_cpus AS cpus,
		sum(value) FILTER (WHERE metric = 'ledger.bytes') / 1024 AS kib,
		sum(value) FILTER (WHERE metric = 'ledger.bytes' AND entity LIKE 'percpu%') / 1024 AS percpu,
		max(value) FILTER (WHERE metric = 'nr_dying_descendants' AND entity = '/') AS dying
	FROM chosen JOIN run USING (experiment) JOIN run_cpus USING (run_id) JOIN summary USING (run_id)
	WHERE status = 'done' AND metric IN ('ledger.bytes', 'nr_dying_descendants')
	GROUP BY run_id
),
named AS (
	SELECT *, printf('%d node%s, %s', nodes, CASE WHEN nodes > 1 THEN 's' ELSE '' END, policy) AS curve FROM of_run
	WHERE cpus IS NOT NULL AND dying > 0
),
point AS (
	SELECT curve, cpus, avg(kib / dying) AS kib, avg(percpu / dying) AS percpu FROM named GROUP BY curve, cpus
),
shown AS ( -- one number of CPUs is no curve
	SELECT curve, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM named
	WHERE (SELECT count(DISTINCT cpus) FROM point) > 1
	GROUP BY curve
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d', replace(scenario, '"', ''''), count(*)) FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(curve, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, cpus, printf('%d %.6g %.6g', cpus, kib, percpu) FROM point JOIN shown USING (curve)
)
SELECT text FROM line ORDER BY block, row;
