-- River's own tables are there by now. Users take turns: see queue_turns.go.
CREATE INDEX river_job_turns ON river_job (queue, ((args->>'turn')::bigint), id) WHERE state IN ('available', 'running');
CREATE INDEX river_job_users ON river_job (queue, (args->>'user'), ((args->>'turn')::bigint))
	WHERE state IN ('available', 'pending', 'retryable', 'scheduled', 'running');

-- What waited so far. The old table stays for replicas that are still to be replaced.
INSERT INTO river_job (args, kind, queue, max_attempts)
	SELECT jsonb_build_object('document', jobs.document, 'sha256', jobs.sha256, 'turn', row_number() OVER (PARTITION BY jobs.kind, user_id ORDER BY jobs.n), 'user', user_id),
		'document', jobs.kind, 32767
	FROM jobs JOIN documents ON documents.id = jobs.document ORDER BY jobs.n;
