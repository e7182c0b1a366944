//go:build !linux

package worker

// limitData does nothing here: watchMemory ends a process that holds too much.
func limitData() {}

// machineMemory is not known here.
func machineMemory() int64 { return 0 }

// oomKills can't be told here.
func oomKills() int64 { return 0 }
