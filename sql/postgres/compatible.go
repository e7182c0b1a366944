package postgres

import (
	"regexp"
	"strconv"
)

// minCompatible is how a migration says, in a line of its script, that programs of older versions can't use the
// schema any more: "-- min_compatible: 9". Without it the step leaves all before it working.
var minCompatible = regexp.MustCompile(`(?m)^-- min_compatible: (\d+)$`)

// leastProgram returns the lowest version of a program that can use the schema after a step; 1: any version can. A
// script without the line, or with one that can't be read, names none.
func leastProgram(script string) int {
	if found := minCompatible.FindStringSubmatch(script); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			return n
		}
	}
	return 1
}
