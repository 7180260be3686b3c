-- lru-composition-over-time.sql - what the memory of a cgroup is made of, a panel a variant.
--
--	sqlite3 out.db < analysis/lru-composition-over-time.sql > lru.dat
--	gnuplot -e "data='lru.dat'; out='lru.png'" analysis/lru-composition-over-time.gp
--
-- Means over the replications of samples, of one cgroup: the first by name below the root, or :entity. Shows the
-- four LRU lists, or what :metrics names, with commas between; so do psi-over-time.sql and
-- shadow-nodes-over-time.sql. Parameters and data file: docs/figures.md.
--
-- index 0       "scenario" "entity" number-of-variants
-- index 1 + k   "variant k"; then seconds of simulated time, and a column a metric, bytes in MiB (? where there
--               is none): active file, inactive file, active anon, inactive anon

WITH
asked AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment,
		coalesce(:metrics, 'memory.stat.active_file,memory.stat.inactive_file,memory.stat.active_anon,' ||
			'memory.stat.inactive_anon') AS metrics
),
shown_metric AS (
	SELECT key AS place, value AS metric
	FROM asked, json_each('["' || replace(metrics, ',', '","') || '"]')
),
chosen AS (
	SELECT experiment, coalesce(:entity, (
		SELECT min(entity) FROM asked JOIN run USING (experiment) JOIN sample USING (run_id)
		WHERE metric = (SELECT metric FROM shown_metric WHERE place = 0) AND entity <> '/'
	), '/') AS entity
	FROM asked
),
mean AS (
	SELECT variant, t_ns, metric, avg(value) / max(CASE unit WHEN 'bytes' THEN 1048576.0 ELSE 1 END) AS value
	FROM chosen JOIN run USING (experiment) JOIN sample USING (run_id, entity)
		JOIN shown_metric USING (metric) JOIN metric ON metric.name = metric
	WHERE status = 'done'
	GROUP BY variant, t_ns, metric
),
point AS (
	SELECT DISTINCT variant, t_ns, group_concat(coalesce(printf('%.6g', value), '?'), ' ') OVER (
		PARTITION BY variant, t_ns ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
	) AS text
	FROM (SELECT DISTINCT variant, t_ns FROM mean) JOIN shown_metric
		LEFT JOIN mean USING (variant, t_ns, metric)
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM point)
	GROUP BY variant
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "%s" %d', replace(scenario, '"', ''''), replace(entity, '"', ''''),
		count(*))
	FROM chosen, shown GROUP BY entity
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(variant, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, t_ns, printf('%.9g %s', t_ns * 1e-9, text) FROM point JOIN shown USING (variant)
)
SELECT text FROM line ORDER BY block, row;
