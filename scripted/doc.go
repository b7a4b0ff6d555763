// Package scripted holds models that need no network: gate scripts, which say what a test
// wants said, and policies, which a real model is measured against.
//
// All of them answer the prompt that the loop sends, in the reply syntax of package gate.
// A policy reads that prompt as a model does and knows nothing else, but for the oracles:
// what they may know is the Truth they are built with.
//
// Asked for the answer (loop.AnswerTurn), a policy says its memory, and a script its answer.
package scripted
