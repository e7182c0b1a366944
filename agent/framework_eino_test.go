package agent_test

import (
	"footnote/agent"
	"footnote/agent/run/eino"
)

func init() { agent.AddFramework("eino", eino.Drive) }
