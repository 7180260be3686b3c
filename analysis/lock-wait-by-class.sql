-- lock-wait-by-class.sql - how long tasks waited for locks of each class, a bar a variant.
--
--	sqlite3 out.db < analysis/lock-wait-by-class.sql > locks.dat
--	gnuplot -e "data='locks.dat'; out='locks.png'" analysis/lock-wait-by-class.gp
--
-- Shows lock_stat.wait_total_ns, the mean over the replications, of the ten classes that were waited for most
-- in any variant; of fewer where that were more than a hundred bars. Parameters (no entity) and data file:
-- docs/figures.md.
--
-- index 0       "scenario" "" number-of-variants number-of-classes
-- index 1 + k   "variant k"; then class from 0 on, seconds waited, "class", "seconds as text"

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
wait AS (
	SELECT variant, lock, avg(wait_total_ns) * 1e-9 AS waited
	FROM chosen JOIN run USING (experiment) JOIN lock_stat USING (run_id)
	WHERE status = 'done'
	GROUP BY variant, lock
),
class AS (
	SELECT lock, row_number() OVER (ORDER BY max(waited) DESC, lock) - 1 AS class
	FROM wait GROUP BY lock HAVING max(waited) > 0
	ORDER BY class LIMIT (SELECT max(3, min(10, 100 / max(1, count(DISTINCT variant)))) FROM wait)
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM wait JOIN class USING (lock))
	GROUP BY variant
),
bar AS (
	SELECT k, class, coalesce(waited, 0) AS waited, lock
	FROM shown JOIN class LEFT JOIN wait USING (variant, lock)
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d %d', replace(scenario, '"', ''''), count(*),
		(SELECT count(*) FROM class))
	FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(variant, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, class, printf('%d %.6g "%s" "%s"', class, waited,
		replace(lock, '"', ''''), CASE
		WHEN waited = 0 THEN '0'
		WHEN waited < 1e-6 THEN printf('%.3g ns', waited * 1e9)
		WHEN waited < 1e-3 THEN printf('%.3g us', waited * 1e6)
		WHEN waited < 1 THEN printf('%.3g ms', waited * 1e3)
		ELSE printf('%.3g s', waited) END)
	FROM bar
)
SELECT text FROM line ORDER BY block, row;
