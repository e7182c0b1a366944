package postgres

import (
	"regexp"
	"strconv"
)

// minCompatible matches a line of a migration's script, "-- min_compatible: 9", which excludes older versions of the
// program. Without it all earlier versions are compatible.
var minCompatible = regexp.MustCompile(`(?m)^-- min_compatible: (\d+)$`)

// leastProgram returns the minimum version of the program that is compatible with the schema after a migration.
// Without a valid line it returns 1: any version.
func leastProgram(script string) int {
	if found := minCompatible.FindStringSubmatch(script); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			return n
		}
	}
	return 1
}
