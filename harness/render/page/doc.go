// Package page writes a result, with the turns of its runs, as one HTML page that needs no
// network and no server.
//
// Without JavaScript the page shows all but the texts of turns, which it holds as gzip and
// opens on demand. Texts of models, corpora and specs are hostile: the template escapes
// them, and the script shows them as text only.
package page
