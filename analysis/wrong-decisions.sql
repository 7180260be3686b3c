-- wrong-decisions.sql - how often those who act on counters were misled by their age, a bar a variant.
--
--	sqlite3 out.db < analysis/wrong-decisions.sql > wrong.dat
--	gnuplot -e "data='wrong.dat'; out='wrong.png'" analysis/wrong-decisions.gp
--
-- Shows decision.wrong_share, the mean over the replications, of the ten deciders that were wrong most often in
-- any variant; of fewer where that were more than a hundred bars. Parameters (no entity) and data file: docs/figures.md.
--
-- index 0       "scenario" "" number-of-variants number-of-deciders
-- index 1 + k   "variant k"; then decider from 0 on, per cent wrong, "decider", "wrong of taken"

WITH
chosen AS (
	SELECT coalesce(:experiment, (SELECT experiment FROM run ORDER BY run_id DESC LIMIT 1)) AS experiment
),
decided AS (
	SELECT variant, entity, run_id, sum(value * (metric = 'decision.taken')) AS taken,
		sum(value * (metric = 'decision.wrong')) AS wrong
	FROM chosen JOIN run USING (experiment) JOIN summary USING (run_id)
	WHERE status = 'done' AND metric IN ('decision.taken', 'decision.wrong')
	GROUP BY run_id, entity
),
share AS (
	SELECT variant, entity, 100.0 * sum(wrong) / sum(taken) AS percent, sum(wrong) AS wrong, sum(taken) AS taken
	FROM decided GROUP BY variant, entity
),
decider AS (
	SELECT entity, row_number() OVER (ORDER BY max(percent) DESC, entity) - 1 AS class
	FROM share GROUP BY entity HAVING max(percent) > 0
	ORDER BY class LIMIT (SELECT max(3, min(10, 100 / max(1, count(DISTINCT variant)))) FROM share)
),
shown AS (
	SELECT variant, scenario, row_number() OVER (ORDER BY min(run_id)) - 1 AS k
	FROM chosen JOIN run USING (experiment)
	WHERE variant IN (SELECT variant FROM share JOIN decider USING (entity))
	GROUP BY variant
),
bar AS (
	SELECT k, class, coalesce(percent, 0) AS percent, entity, coalesce(wrong, 0) AS wrong,
		coalesce(taken, 0) AS taken
	FROM shown JOIN decider LEFT JOIN share USING (variant, entity)
),
line (block, row, text) AS (
	SELECT 0, 0, printf('"%s" "" %d %d', replace(scenario, '"', ''''), count(*),
		(SELECT count(*) FROM decider))
	FROM shown GROUP BY scenario
	UNION ALL SELECT 1 + k, -2, char(10) FROM shown
	UNION ALL SELECT 1 + k, -1, printf('"%s"', replace(variant, '"', '''')) FROM shown
	UNION ALL SELECT 1 + k, class, printf('%d %.6g "%s" "%d of %d"', class, percent,
		replace(entity, '"', ''''), wrong, taken)
	FROM bar
)
SELECT text FROM line ORDER BY block, row;
