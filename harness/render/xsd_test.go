package render_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// node is an XML element.
type node struct {
	Name     string
	Attr     map[string]string
	Children []*node
	Text     string
}

// parseXML reads one document.
func parseXML(data string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(data))
	root := &node{}
	open := []*node{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if len(root.Children) != 1 {
				return nil, fmt.Errorf("%d root elements, want 1", len(root.Children))
			}
			return root.Children[0], nil
		}
		if err != nil {
			return nil, err
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{Name: token.Name.Local, Attr: map[string]string{}}
			for _, a := range token.Attr {
				n.Attr[a.Name.Local] = a.Value
			}
			top.Children = append(top.Children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.Text += string(token)
		}
	}
}

// schema validates documents against the part of XML Schema that junit.xsd is written in:
// global elements, sequences and choices of references, attributes, mixed content. Anything
// else in a schema is an error, so that nothing in it is silently not checked.
type schema struct{ elements map[string]*node }

func parseSchema(data string) (*schema, error) {
	root, err := parseXML(data)
	if err != nil {
		return nil, err
	}
	s := &schema{map[string]*node{}}
	for _, e := range root.Children {
		if e.Name != "element" {
			return nil, fmt.Errorf("<%s> in the schema is not understood", e.Name)
		}
		s.elements[e.Attr["name"]] = e
	}
	return s, nil
}

func (s *schema) validate(data string) error {
	doc, err := parseXML(data)
	if err != nil {
		return err
	}
	return s.element(doc)
}

func (s *schema) element(n *node) error {
	decl := s.elements[n.Name]
	if decl == nil {
		return fmt.Errorf("<%s> is not in the schema", n.Name)
	}
	kind := &node{Attr: map[string]string{"mixed": "true"}} // of a simple type
	if len(decl.Children) == 1 && decl.Children[0].Name == "complexType" {
		kind = decl.Children[0]
	}
	if kind.Attr["mixed"] != "true" && strings.TrimSpace(n.Text) != "" {
		return fmt.Errorf("<%s> has text", n.Name)
	}
	if err := s.children(kind, n); err != nil {
		return err
	}
	if err := attributes(kind, n); err != nil {
		return err
	}
	for _, c := range n.Children {
		if err := s.element(c); err != nil {
			return err
		}
	}
	return nil
}

// children holds the names of an element's children against its content model, written as
// a regular expression.
func (s *schema) children(kind, n *node) error {
	model, err := content(kind)
	if err != nil {
		return err
	}
	names := ""
	for _, c := range n.Children {
		names += c.Name + " "
	}
	if !regexp.MustCompile("^" + model + "$").MatchString(names) {
		return fmt.Errorf("<%s> has children %q, want %s", n.Name, names, model)
	}
	return nil
}

func content(n *node) (string, error) {
	var parts []string
	for _, c := range n.Children {
		switch c.Name {
		case "attribute":
			continue
		case "element":
			parts = append(parts, "("+c.Attr["ref"]+" )"+times(c))
		case "sequence", "choice":
			inner, err := content(c)
			if err != nil {
				return "", err
			}
			parts = append(parts, "("+inner+")"+times(c))
		default:
			return "", fmt.Errorf("<%s> in the schema is not understood", c.Name)
		}
	}
	if n.Name == "choice" {
		return strings.Join(parts, "|"), nil
	}
	return strings.Join(parts, ""), nil
}

func times(n *node) string {
	return map[string]string{"0 unbounded": "*", "1 unbounded": "+", "0 1": "?", "1 1": ""}[or(n.Attr["minOccurs"], "1")+" "+or(n.Attr["maxOccurs"], "1")]
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func attributes(kind, n *node) error {
	known := map[string]*node{}
	for _, a := range kind.Children {
		if a.Name != "attribute" {
			continue
		}
		known[a.Attr["name"]] = a
		if _, given := n.Attr[a.Attr["name"]]; !given && a.Attr["use"] == "required" {
			return fmt.Errorf("<%s> lacks %s", n.Name, a.Attr["name"])
		}
	}
	shape := map[string]string{"xs:string": `(?s).*`, "xs:nonNegativeInteger": `\d+`, "xs:decimal": `[+-]?(\d+(\.\d*)?|\.\d+)`}
	for name, value := range n.Attr {
		a := known[name]
		if a == nil {
			return fmt.Errorf("<%s> has %s, which is not in the schema", n.Name, name)
		}
		want, ok := shape[a.Attr["type"]]
		if !ok || !regexp.MustCompile(`^(?:`+want+`)$`).MatchString(value) {
			return fmt.Errorf("<%s> has %s=%q, want %s", n.Name, name, value, a.Attr["type"])
		}
	}
	return nil
}
