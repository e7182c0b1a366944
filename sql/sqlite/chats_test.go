package sqlite

import (
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/chattest"
	"github.com/footnote/footnote/sql/store"
)

func TestChats(t *testing.T) {
	t.Parallel()
	chattest.TestStore(t, func(t *testing.T) chat.Store { return openNew(t).Chats() })
}

func TestDamagedRunDoesNotHideOthers(t *testing.T) {
	t.Parallel()
	chattest.TestDamaged(t, func(t *testing.T) (store chat.Store, breakText, removeText chattest.Spoil) {
		db := openNew(t)
		spoil := func(statement string) chattest.Spoil {
			return func(runID string) {
				if err := db.writeTx(t.Context(), false, func(tx *tx) error {
					_, err := tx.Exec(statement+` WHERE run = (SELECT n FROM runs WHERE id = ?)`, runID)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return db.Chats(), spoil(`UPDATE run_texts SET request = '{broken'`), spoil(`DELETE FROM run_texts`)
	})
}

func TestPurgeDeletesOldKeys(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	chats, req := db.Chats(), chat.RunRequest{Message: "q", IdempotencyKey: "key"}
	start := func() (fresh bool) {
		_, fresh, err := chats.StartRun(t.Context(), chat.LocalUser, req, chat.Lease{Owner: "server"})
		if err != nil {
			t.Fatalf("StartRun: %v, want no error", err)
		}
		if _, err := chats.Purge(t.Context(), time.Time{}, time.Time{}); err != nil {
			t.Fatalf("Purge: %v, want no error", err)
		}
		return fresh
	}
	if start(); start() {
		t.Error("key of today was deleted")
	}
	if err := db.writeTx(t.Context(), false, func(tx *tx) error {
		_, err := tx.Exec(`UPDATE idempotency_keys SET created_at = ?`,
			time.Now().Add(-store.KeyLifetime-time.Minute).UnixMicro())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	start() // still finds the key, then purges it
	if !start() {
		t.Error("key of yesterday is still stored")
	}
}
