package openai

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/poimen-memory/mem/loop"
)

var (
	_ loop.ContextLength = (*StatusError)(nil)
	_ loop.NotSent       = (*GivenUp)(nil)
)

// ContextLength reports whether the server found the prompt and reply too long for the
// model. There is no common code for that: most servers only say it in their message.
func (e *StatusError) ContextLength() bool {
	names := strings.ToLower(e.Code + " " + e.Type)
	for _, name := range []string{"context_length_exceeded", "exceed_context_size", "contextwindowexceeded", "context_window_exceeded"} {
		if strings.Contains(names, name) {
			return true
		}
	}
	if status := e.status(); status == http.StatusTooManyRequests || status >= 300 && status < 400 {
		return false
	}
	said := bare.Replace(strings.ToLower(e.Message))
	return tooLong.MatchString(said) && !rateLimited.MatchString(said)
}

// bare takes off what servers put around the names of parameters.
var bare = strings.NewReplacer("`", "", "'", "", `"`, "", "_", " ")

// rateLimited are limits on many requests together, which may be counted in tokens too.
var rateLimited = regexp.MustCompile(`rate.?limit|\bper.(second|min|minute|hour|day|month)\b|\b[tr]p[smhd]\b|quota|throttl|too many requests|please wait|slow down|deadline`)

// tooLong is what servers say of one request that is too long, in small letters.
var tooLong = regexp.MustCompile(strings.Join([]string{
	`maximum (context|model|prompt|sequence|input) length`, // OpenAI, vLLM, xAI, Mistral, DeepSeek
	`max model len|max seq len|max num tokens`,             // vLLM, TensorRT-LLM
	`(available|max|maximum|model|models|allowed|exceeds?|exceeded|exceeding|overflows?|than)( the| this)?( available| models?| maximum)? context (length|size|window|limit)`, // SGLang, llama.cpp, Ollama, Anthropic
	`context (length|size|window|limit)( is| was| of [^ ]+)?( too)? (exceeded|exceeds|overflow|full|small)`,                                                                   // LiteLLM, MiniMax, LM Studio
	`contextwindowexceeded|context (the )?overflow`,
	`inputs tokens \+ max new tokens must be|inputs must have (less|at most)`, // TGI
	`(prompt|input|inputs|messages?)( \([^)]*\))? (is|are) too (long|large)`,  // Anthropic, Bedrock, vLLM, llama.cpp
	`(prompt|input|inputs|request|messages?)\b[^.:]{0,50}\b(exceed(s|ed)?|longer than|larger than|greater than)\b[^.]{0,40}(token|context|length|\bmodel limit|\blimit of \d)`, // Gemini, Moonshot, SGLang
	`too many input tokens|input token count`,                                                   // Bedrock, Gemini
	`max length exceeded|exceeds? max length`,                                                   // Moonshot, Zhipu
	`range of input length should be`,                                                           // DashScope
	`expected maxlength: \d+, actual: \d+`,                                                      // Bedrock
	`reduce the length of (the|your) (messages|prompt|input)`,                                   // Groq, Cerebras
	`too many tokens:? |tokens in the prompt cannot exceed`,                                     // Cohere
	`request (exceeds the maximum size|too large\b)|payload too large|request entity too large`, // Anthropic, gateways
}, "|"))
