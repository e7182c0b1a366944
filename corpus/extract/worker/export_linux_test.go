package worker

import "testing"

// ReadVMStat has the kernel's counts read from another file until the test ends.
func ReadVMStat(t *testing.T, path string) {
	before := vmstat
	vmstat = path
	t.Cleanup(func() { vmstat = before })
}
