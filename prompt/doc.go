// Package prompt assembles the prompt of one turn of the memory loop: the template of GRU-Mem
// (arXiv 2602.10560, Figure 10a) with a question, a memory and a chunk of session records in
// its places. A Builder assembles prompts, and counts tokens with a Counter that the caller
// gives. See ExampleBuilder.
//
// The template is kept byte for byte and goes into the user message whole, as the model
// family was trained. The system message is empty unless Config sets one. A chunk is rendered
// as "[role] text", its records separated by a blank line. The first turn's memory is the
// literal "No previous memory".
//
// Values stand in the prompt verbatim, with one exception. The tags <problem>, <memory> and
// <section>, which frame the values, must each appear once: in a value, the "<" of such a tag
// becomes "&lt;", and Text.Reserved counts them. Otherwise the text of a session could end its
// section and add instructions to the prompt.
//
// Each component has a limit in tokens (Budget). A component that is over its limit, or a sum
// that is over the window, is an *OverBudget error that names the component, its tokens and the
// limit. Nothing is truncated: a truncated memory or section would change what the model is
// asked, and no record would show it.
package prompt
