package token_test

import (
	"fmt"

	"github.com/poimen-memory/mem/prompt/token"
)

func ExampleNew() {
	for _, name := range []string{"o200k_base", "qwen2.5"} {
		c, err := token.New(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, c.Count("redis: listening on 6380"))
	}
	// Output:
	// o200k_base 7
	// qwen2.5 9
}
