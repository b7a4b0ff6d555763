package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// comments are those of the types in dir, up to the end of their first paragraph, and of their
// fields. Test files are not read.
func comments(dir string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	docs := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			if types, ok := d.(*ast.GenDecl); ok && types.Tok == token.TYPE {
				addComments(docs, types)
			}
		}
	}
	return docs, nil
}

func addComments(docs map[string]string, types *ast.GenDecl) {
	for _, s := range types.Specs {
		t := s.(*ast.TypeSpec)
		docs[t.Name.Name] = oneLine(types.Doc)
		fields, ok := t.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				docs[t.Name.Name+"."+name.Name] = oneLine(f.Comment)
			}
		}
	}
}

func oneLine(c *ast.CommentGroup) string {
	first, _, _ := strings.Cut(c.Text(), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}
