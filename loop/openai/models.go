package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Models asks the server which models it knows, by the names that requests use. It is one
// request and is not tried again. Errors are as Complete's; a server need not have such a
// list, and then mostly says 404.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	x := exchange{cfg: c.cfg, filter: c.filter, url: strings.TrimRight(c.cfg.BaseURL, "/") + "/models"}
	body, err := x.get(ctx)
	if err != nil {
		return nil, err
	}
	var list struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, x.replyError(fmt.Sprintf("is no list of models: %v", err))
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, line(c.filter.Text(m.ID)))
	}
	return names, nil
}

func (x *exchange) get(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.url, nil)
	if err != nil {
		return nil, x.transportError(err)
	}
	if key := x.cfg.APIKey.value(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := x.cfg.Transport.RoundTrip(req)
	if err != nil {
		return nil, x.transportError(err)
	}
	defer resp.Body.Close()
	if !success(resp.StatusCode) {
		return nil, x.statusError(req, resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, x.cfg.MaxResponseBytes))
	if err != nil {
		return nil, x.transportError(err)
	}
	return body, nil
}
