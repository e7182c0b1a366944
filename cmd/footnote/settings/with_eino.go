//go:build eino

package settings

import (
	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/run/eino"
)

var drivenByEino agentrun.Framework = eino.Drive
