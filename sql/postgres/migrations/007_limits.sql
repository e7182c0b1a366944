-- What users spend of what their limits allow, newest last; rows older than a limit's window go.
CREATE TABLE spent (
	user_id text   COLLATE "C" NOT NULL,
	what    text   COLLATE "C" NOT NULL,
	at      bigint NOT NULL,
	amount  bigint NOT NULL,
	PRIMARY KEY (user_id, what, at)
);
CREATE INDEX spent_by_age ON spent (at);

-- The user whose limit of runs at once a run counts against; empty: nobody's.
ALTER TABLE runs ADD COLUMN charged text COLLATE "C" NOT NULL DEFAULT '';
UPDATE runs r SET charged = s.user_id FROM sessions s WHERE s.n = r.session AND r.status = 'running' AND s.user_id <> 'local';
CREATE INDEX runs_charged ON runs (charged) WHERE status = 'running' AND charged <> '';

-- A day's questions go on counting across the upgrade.
INSERT INTO spent (user_id, what, at, amount) SELECT s.user_id, 'question', r.created_at, count(*) FROM runs r JOIN sessions s ON s.n = r.session
	WHERE s.user_id <> 'local' AND r.created_at > now_micros() - 86400000000 GROUP BY s.user_id, r.created_at;

-- The sum of a user's documents is read without the documents.
CREATE INDEX documents_by_size ON documents (user_id, bytes);

-- spend finds the first of a user's limits that n more of something would break: {its number from 1, when what fills it was spent, now}. If
-- there is none, it counts n, unless keep is false, and returns {0, 0, now}. A limit is something with a span, in which at most so much of it
-- may be spent; one of something else than what is counted must have room for 1. The lock holds until the transaction ends and makes the
-- user's calls take turns, on all replicas; each query of a function like this sees what was committed before it.
CREATE FUNCTION spend(who text, thing text, n bigint, things text[], spans bigint[], mosts bigint[], keep bool) RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	clock bigint;
	full_at bigint;
	need bigint;
BEGIN
	IF keep THEN
		PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || ' limits of ' || who, 0));
	END IF;
	clock := now_micros();
	FOR i IN 1 .. coalesce(cardinality(spans), 0) LOOP
		need := CASE WHEN things[i] = thing THEN n ELSE 1 END;
		IF need > mosts[i] THEN
			RETURN ARRAY[i, 0, clock];
		END IF;
		SELECT s.at INTO full_at FROM (SELECT at, sum(amount) OVER (ORDER BY at DESC) AS total FROM spent
			WHERE user_id = who AND what = things[i] AND at > clock - spans[i]) s WHERE s.total > mosts[i] - need ORDER BY s.at DESC LIMIT 1;
		IF full_at IS NOT NULL THEN
			RETURN ARRAY[i, full_at, clock];
		END IF;
	END LOOP;
	IF keep THEN
		INSERT INTO spent AS s (user_id, what, at, amount) VALUES (who, thing, clock, n) ON CONFLICT (user_id, what, at) DO UPDATE SET amount = s.amount + excluded.amount;
		DELETE FROM spent WHERE user_id = who AND what = thing AND at <= clock - (SELECT max(span) FROM unnest(things, spans) AS t (of_what, span) WHERE of_what = thing);
	END IF;
	RETURN ARRAY[0, 0, clock];
END $$;
