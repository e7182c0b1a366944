package migrations

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files []string
		fault string // empty: none
	}{
		{"in order of number, not of name", []string{"001_a.sql", "002_b.sql", "010_j.sql", "003_c.sql", "4_d.sql", "05_e.sql", "006_f.sql", "007_g.sql", "008_h.sql", "009_i.sql"}, ""},
		{"a gap", []string{"001_a.sql", "003_c.sql"}, "003_c should have the number 2"},
		{"one number twice", []string{"001_a.sql", "001_b.sql"}, "should have the number 2"},
		{"no number", []string{"first.sql"}, "does not begin with a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for _, name := range tt.files {
				files["m/"+name] = &fstest.MapFile{Data: []byte("SELECT 1")}
			}
			all, err := Read(files, "m")
			switch {
			case tt.fault == "" && (err != nil || len(all) != len(tt.files)):
				t.Errorf("Read = %v, %v", all, err)
			case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
				t.Errorf("Read = %v, %v; want an error with %q", all, err, tt.fault)
			}
		})
	}
}
