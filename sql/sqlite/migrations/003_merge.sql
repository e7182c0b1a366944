-- Fewer segments of the index of words: every term of a search is sought in each of them. Adding documents pays for it.
INSERT INTO lexical(lexical, rank) VALUES('automerge', 2);
