// Package prompt assembles the memory-agent prompt of GRU-Mem (arXiv 2602.10560,
// Figure 10a) from a question, a memory and a chunk of session records, and accounts
// for its tokens. It refuses what does not fit, naming the component: nothing is cut,
// because a cut memory or section changes what the model is asked without a trace.
//
// The whole template goes into the user message, as the model family was trained.
package prompt
