// Package view holds what all formats show of a result: the cells of tables, the sentence
// of an experiment, notes, and numbers as text. Nothing in it is cleaned or escaped: each
// format does that for itself.
package view
