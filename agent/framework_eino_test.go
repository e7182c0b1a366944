package agent_test

import (
	"github.com/footnote/footnote/agent"
	"github.com/footnote/footnote/agent/run/eino"
)

func init() { agent.AddFramework("eino", eino.Drive) }
