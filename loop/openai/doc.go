// Package openai implements loop.Model for servers that speak the OpenAI chat completions
// format, such as vLLM, llama.cpp, Ollama, SGLang and hosted services. A Client asks one model
// at one server: one chat completion a call. It may be used by several goroutines, and its
// limits hold for all of them together. See ExampleClient.
//
// # Requests
//
// A request is POST BaseURL/chat/completions with the model, the messages (an empty system
// message is left out), the token limit, "stream": false, and the fields of Params that are
// set, zeros included. Nothing else is sent. If Params.Seed is set, attempt n of a turn sends
// Seed + n − 1, and trial n adds 1000 × (n − 1).
//
// # Replies
//
// A 2xx response with a completion is a reply, whether or not gates can be read in it:
//
//   - finish_reason "length", "max_tokens" or "model_length": Finish is loop.FinishLength.
//   - finish_reason "content_filter": Finish is that, and Text is what the filter left.
//   - tool calls in place of text: Finish is "tool_calls" and Text is empty.
//   - null content: Text is empty, or the refusal if the server sends one.
//   - text that is not valid UTF-8: Text has the bytes as they came.
//
// Usage is the server's token count, or nil if the server sends none or one that cannot be
// right. Cost then holds the count of Config.Count.
//
// # Errors
//
// A call without a reply returns one of these errors:
//
//   - *StatusError: the server refused the request, by its status or by an error in the body
//     of a 2xx.
//   - *ReplyError: a 2xx without a completion: malformed, without choices, over
//     MaxResponseBytes, with the API key in it, or stopped by the server (finish_reason
//     "error" or "abort").
//   - *TransportError: no whole response: refused, reset, cut off or timed out.
//   - *GivenUp: the server has failed for Retry.GiveUpAfter without one reply to any call.
//
// Refused connections, timeouts, the statuses 408, 409, 425, 429 and 5xx, and replies that the
// server stopped are retried, within Retry; other errors are permanent. An error names the
// model, the URL and the server's message, and never contains the API key.
package openai
