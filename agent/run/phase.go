package run

// phase is what the model's next turn is for. A spent budget (budget.stop) makes it the answer in every phase.
// reviewReply and askAgain may lead from an answer back to gathering; each way back is limited, so a run ends.
type phase string

const (
	gathering            phase = ""           // the model may call tools
	answering            phase = "answering"  // the model answers: it has what it needs, or can't call tools
	answeringPreselected phase = "from rules" // the model answers from what the program chose to gather
	answeringTalk        phase = "talk"       // rules see nothing to search for; the model may call tools all the same
)

// modelRole is the part that the model of a run plays. The offline model is made of rules (agent/llm/offline). A run has it
// when the request names it (useRequested), or when it takes over as Config.Fallback because the language model failed
// or said nothing that holds (switchToFallback). Both are one role: advice, reviews and repairs are for language
// models.
type modelRole string

const (
	languageModel  modelRole = ""         // it writes freely: it is given advice, and its answers are reviewed
	ruleBasedModel modelRole = "fallback" // it quotes: asked for as "offline", or in the place of a model that failed
)

// isChosen reports whether rules chose what the model answers from.
func (p phase) isChosen() bool { return p == answeringPreselected || p == answeringTalk }

// mayCallTools reports whether the next turn may call tools.
func (m *modelCaller) mayCallTools() bool {
	return (m.phase == gathering || m.phase == answeringTalk) && m.budget.stop == "" && !m.isSmall()
}

// answerNext makes the next turn the answer, also when rules chose what was gathered.
func (s *state) answerNext() {
	if s.phase == gathering {
		s.phase = answering
	}
}

// isRuleBased reports whether the run's model is the one made of rules: asked for, or because the other failed.
func (m *modelCaller) isRuleBased() bool { return m.role == ruleBasedModel }

// switchToFallback gives the rest of the run to Config.Fallback, which is the offline model wherever it is set.
func (m *modelCaller) switchToFallback() {
	m.model, m.role = m.cfg.Fallback, ruleBasedModel
	m.offerCheck()
}

// remedy is something that a run does at most once to get on. Its value is what the model is told, for those that tell
// it something.
type remedy string

// Remedies besides those that tell the model what is wrong with its answer.
const (
	reformulation remedy = "reformulation" // it was searched in other words
	translation   remedy = "translation"   // what is searched for was translated, or could not be
	pipelineRun   remedy = "pipeline"      // the fixed pipeline took over
	foundChecked  remedy = "check"         // the small model judged the passages that it is to answer from
	needJudged    remedy = "need"          // the judge was asked whether the message needs documents
	foundJudged   remedy = "judgement"     // what was found was judged, to search for what is missing
)

// remedies are those that a run has used.
type remedies map[remedy]bool
