//go:build eino

package settings

import (
	agentrun "footnote/agent/run"
	"footnote/agent/run/eino"
)

var drivenByEino agentrun.Framework = eino.Drive
