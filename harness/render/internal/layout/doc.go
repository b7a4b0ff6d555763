// Package layout sets text in lines and tables of a fixed-width face.
//
// [Clean] makes one harmless line of any text; the other functions measure, cut and wrap
// clean lines in columns, as a terminal shows them. A [Table] cleans its own cells. What
// is written depends on the arguments alone, not on the locale.
package layout
