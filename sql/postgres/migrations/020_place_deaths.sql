-- Processes that died while they synchronized a place: see placestore.MaxDeaths.
ALTER TABLE places ADD COLUMN deaths bigint NOT NULL DEFAULT 0;
