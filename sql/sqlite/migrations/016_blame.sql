-- A reader that was ended counts twice now, and with 6 a document is not tried again by itself: see corpus.Job.
ALTER TABLE jobs RENAME COLUMN deaths TO blame;
UPDATE jobs SET blame = 2 * blame;
