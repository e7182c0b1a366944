//go:build !linux

package worker

// limitData does nothing on this system. watchMemory enforces the limit.
func limitData() {}

// machineMemory returns 0: unknown on this system.
func machineMemory() int64 { return 0 }

// oomKills returns 0: unknown on this system.
func oomKills() int64 { return 0 }
