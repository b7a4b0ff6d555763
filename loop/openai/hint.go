package openai

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// hint is the edit that corrects a refused request, where one is known.
func hint(cfg Config, e *StatusError) string {
	named := strings.Contains(e.Message, cfg.Model) || strings.Contains(e.Code+e.Type, "model_not_found")
	if e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed || named {
		return "" // where the model is not known, the path is
	}
	return baseHint(cfg.BaseURL)
}

// version is a part of a path such as v1 or v1beta.
var version = regexp.MustCompile(`^v\d+\w*$`)

// baseHint is what a base URL should rather be; empty if it looks right.
func baseHint(baseURL string) string {
	u, err := url.Parse(strings.TrimRight(baseURL, "/"))
	if err != nil {
		return ""
	}
	path, why := u.Path, ""
	for _, tail := range []string{"/chat/completions", "/completions", "/responses", "/models", "/chat"} {
		if rest, ok := strings.CutSuffix(path, tail); ok {
			path, why = strings.TrimRight(rest, "/"), "ends with "+tail+", and requests go to a path below it"
			break
		}
	}
	versioned := false
	for part := range strings.SplitSeq(path, "/") {
		versioned = versioned || version.MatchString(part)
	}
	if !versioned {
		path += "/v1"
		if why == "" {
			why = "has no /v1"
		}
	}
	if why == "" {
		return ""
	}
	return "base_url " + why + ": want " + u.Scheme + "://" + u.Host + path
}
