package worker

import "testing"

// ReadVMStat replaces the path of /proc/vmstat until the test ends.
func ReadVMStat(t *testing.T, path string) {
	before := vmstat
	vmstat = path
	t.Cleanup(func() { vmstat = before })
}
