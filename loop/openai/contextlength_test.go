package openai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/poimen-memory/mem/loop/openai"
)

// TestContextLength: as every server says it, under every status that one uses for it. It is
// asked once.
func TestContextLength(t *testing.T) {
	for name, body := range map[string]string{
		"OpenAI":            `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		"OpenAI, responses": `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error"}}`,
		"OpenAI, gpt-5":     `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 281234 tokens.","type":"invalid_request_error"}}`,
		"a code":            `{"error":{"message":"too long","code":"context_length_exceeded"}}`,
		"vLLM":              `{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7000 in the messages, 2000 in the completion).","type":"BadRequestError","param":null,"code":400}`,
		"vLLM, V1":          `{"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that ` + "`max_model_len`" + ` is no smaller than the number of text tokens.","type":"BadRequestError","code":400}}`,
		"vLLM, total":       `{"object":"error","message":"The prompt (total length 25938) is too long to fit into the model (context length 4096).","code":400}`,
		"vLLM, scheduler":   `{"object":"error","message":"Input prompt (35247 tokens) is too long and exceeds limit of 1000"}`,
		"vLLM, max_tokens":  `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is 4096 tokens and your request has 3000 input tokens","code":400}}`,
		"TensorRT-LLM":      `{"object":"error","message":"The sum of prompt length (9351.0), query length (0) should not exceed max_num_tokens (8192)","type":"BadRequestError","code":400}`,
		"TensorRT-LLM, seq": `{"object":"error","message":"The sum of prompt length (9351.0) and query length (0) max_tokens (2048) should not exceed max_seq_len (8192)"}`,
		"TensorRT-LLM, C++": `{"error":"Cannot process new request: Prompt length (5056) exceeds maximum sequence length (2048)"}`,
		"TensorRT-LLM, in":  `{"error":"Encountered an error when fetching new request: Prompt length (200) exceeds maximum input length (128)"}`,
		"TGI":               `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 4096. Given: 3000 ` + "`inputs`" + ` tokens and 2048 ` + "`max_new_tokens`" + `","error_type":"validation"}`,
		"TGI, inputs":       `{"error":"Input validation error: ` + "`inputs`" + ` must have less than 1024 tokens. Given: 1168","error_type":"validation"}`,
		"SGLang":            `{"object":"error","message":"The input (61709 tokens) is longer than the model's context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}`,
		"SGLang, sum":       `{"object":"error","message":"Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens"}`,
		"SGLang, KV":        `{"object":"error","message":"Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input."}`,
		"llama.cpp":         `{"error":{"code":400,"message":"the request exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`,
		"llama.cpp, older":  `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}`,
		"llama.cpp, batch":  `{"error":{"code":500,"message":"input is too large to process. increase the physical batch size","type":"server_error"}}`,
		"Bedrock":           `{"message":"Input is too long for requested model."}`,
		"Bedrock, Titan":    `{"message":"400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279 "}`,
		"Bedrock, chars":    `{"message":"Malformed input request: expected maxLength: 50000, actual: 52611, please reformat your input and try again."}`,
		"Anthropic":         `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209353 tokens > 199999 maximum"}}`,
		"Anthropic, sum":    `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190402 + 16650 > 204648, decrease input length or ` + "`max_tokens`" + ` and try again"}}`,
		"Anthropic, bytes":  `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
		"Gemini":            `[{"error":{"code":400,"message":"The input token count (1195731) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`,
		"Vertex":            `{"error":{"message":"Unable to submit request because the input token count is 40000 but the model only supports up to 32768."}}`,
		"xAI":               `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."}`,
		"Moonshot":          `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)","type":"invalid_request_error"}}`,
		"Moonshot, older":   `{"error":{"message":"model max length exceeded, max length:8192","type":"invalid_request_error"}}`,
		"DashScope":         `{"error":{"code":"invalid_parameter_error","message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]","param":null,"type":"invalid_request_error"},"request_id":"8"}`,
		"LiteLLM":           `{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicError - prompt too big","type":null,"param":null,"code":"400"}}`,
		"LiteLLM, its own":  `{"error":{"message":"The input exceeds the model's maximum context limit of 8192 tokens."}}`,
		"DeepSeek":          `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 69648 tokens (69648 in the messages, 0 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		"Groq":              `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}`,
		"Cerebras":          `{"message":"Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000","type":"invalid_request_error"}`,
		"Mistral":           `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt"}`,
		"Cohere":            `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."}`,
		"Copilot":           `{"error":{"message":"prompt token count of 90000 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}`,
		"Ollama":            `{"error":"prompt too long; exceeded max context length by 812 tokens"}`,
		"LM Studio":         `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`,
		"Zhipu":             `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`,
		"OpenRouter":        `{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens","code":400}}`,
		"a proxy":           `<html><head><title>413 Request Entity Too Large</title></head></html>`,
	} {
		for _, status := range []int{400, 413, 422, 500} {
			n := 0
			c := offline(t, openai.Config{}, func(*http.Request) *http.Response { n++; return respond(status, body) })
			_, err := c.Complete(context.Background(), ask)
			if !as[*openai.StatusError](t, err).ContextLength() || n != 1 {
				t.Errorf("%s, status %d: asked %d times, %v", name, status, n, err)
			}
		}
	}
}

// TestNotContextLength: limits on something else, also where the words are near.
func TestNotContextLength(t *testing.T) {
	for name, body := range map[string]string{
		"TPM":             `{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 35064. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`,
		"used up":         `{"error":{"message":"Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 8554, Requested 3082. Please try again in 9.816s."}}`,
		"Anthropic":       `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute."}}`,
		"Bedrock":         `{"message":"Too many tokens, please wait before trying again."}`,
		"quota":           `{"error":{"message":"You exceeded your current quota of input tokens, please check your plan"}}`,
		"Go":              `{"error":"context deadline exceeded"}`,
		"Go, cancelled":   `{"error":"context canceled"}`,
		"temperature":     `{"error":{"message":"temperature must be non-negative"}}`,
		"max_tokens":      `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 4096 completion tokens"}}`,
		"unknown field":   `{"detail":[{"type":"extra_forbidden","loc":["body","context_length"],"msg":"Extra inputs are not permitted"}]}`,
		"stop":            `{"error":{"message":"Invalid 'stop': array too long. Expected an array with maximum length 4, but got 5 instead."}}`,
		"memory":          `{"error":"model requires more system memory (12.1 GiB) than is available to hold its context"}`,
		"a key":           `{"error":{"message":"Incorrect API key provided: token expired","code":"invalid_api_key"}}`,
		"nothing at all":  ``,
		"credits":         `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 2048 tokens, but can only afford 12.","code":402}}`,
		"an odd template": `{"error":{"message":"Conversation roles must alternate user/assistant; message 3 is longer"}}`,
	} {
		for _, status := range []int{400, 413, 422, 500} {
			c := offline(t, openai.Config{Retry: impatient(1)}, func(*http.Request) *http.Response { return respond(status, body) })
			if status == 413 && name == "nothing at all" {
				continue // it has the status's own words
			}
			if _, err := c.Complete(context.Background(), ask); as[*openai.StatusError](t, err).ContextLength() {
				t.Errorf("%s, status %d: %v is taken for a prompt that is too long", name, status, err)
			}
		}
	}
	c := offline(t, openai.Config{Retry: impatient(1)}, func(*http.Request) *http.Response {
		return respond(429, `{"error":{"message":"Input tokens exceed the limit of 8192 tokens"}}`)
	})
	if _, err := c.Complete(context.Background(), ask); as[*openai.StatusError](t, err).ContextLength() {
		t.Errorf("status 429: %v is taken for a prompt that is too long", err)
	}
}
