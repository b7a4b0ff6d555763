// Package openai is the live loop.Model: one chat completion a call, against any server
// that speaks the OpenAI wire format (vLLM, llama.cpp, Ollama, SGLang, hosted ones).
//
// It is an adapter over github.com/sashabaranov/go-openai, which gives the URL, the headers
// and the reply's types. What that cannot do is done below it, by a RoundTripper: the body
// is exactly what the Config says (temperature 0 included), the reply's size is limited, and
// the server's own words are kept in whatever shape it puts an error. Above it: retries, and
// limits that all runs of a model share. One Client serves one model, from any number of
// goroutines.
//
// # What is a reply, and what is none
//
// A reply is a Completion, even if no gate can be read in it; the loop asks again and then
// retains. These are replies:
//
//   - finish_reason "length" (also "max_tokens" and "model_length"): Finish is loop.FinishLength.
//   - finish_reason "content_filter": Finish says so, Text is what was let through.
//   - tool calls instead of text: Finish is "tool_calls", Text is empty.
//   - null content: Text is empty, or the refusal where the server names one.
//   - text that is not UTF-8: Text has its very bytes.
//
// No reply came, and an error says so, when a call ends in one of these:
//
//   - *StatusError: the server refused, by its status or by an error in the body of a 200.
//   - *ReplyError: a 200 that holds no completion: malformed, without choices,
//     too big, or given up by the server (finish_reason "error" or "abort").
//   - *TransportError: nothing whole arrived: refused, reset, cut off, timed out.
//
// Each of them says whether it may pass; if so the call is tried again, within Retry. Their
// text names the model, the URL and the server's message, and never the key.
package openai
