// The race in Go: `race bytes|untyped|typed|lines URL PAGES`, by net/http and encoding/json, along Link headers.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
)

type issue struct {
	ID     int64  `json:"id"`
	Number int    `json:"number"`
	Title  string `json:"title"`
	User   struct {
		Login string `json:"login"`
		ID    int64  `json:"id"`
	} `json:"user"`
	Labels []struct {
		Name  string `json:"name"`
		Color string `json:"color"`
	} `json:"labels"`
	State     string  `json:"state"`
	Comments  int     `json:"comments"`
	CreatedAt string  `json:"created_at"`
	Body      *string `json:"body"`
}

var next = regexp.MustCompile(`<([^>]*)>;\s*rel="next"`)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	mode, url := os.Args[1], os.Args[2]+"1"
	pages, err := strconv.Atoi(os.Args[3])
	check(err)
	output := bufio.NewWriterSize(os.Stdout, 1<<16)
	sum := 0
	for ; pages > 0 && url != ""; pages-- {
		response, err := http.Get(url)
		check(err)
		page, err := io.ReadAll(response.Body)
		check(err)
		check(response.Body.Close())
		url = ""
		if link := next.FindStringSubmatch(response.Header.Get("Link")); link != nil {
			url = link[1]
		}
		switch mode {
		case "bytes":
			sum += len(page)
		case "untyped":
			var issues []map[string]any
			check(json.Unmarshal(page, &issues))
			for _, issue := range issues {
				login := issue["user"].(map[string]any)["login"].(string)
				sum += int(issue["number"].(float64)) + len(issue["title"].(string)) + len(login)
			}
		case "typed":
			var issues []issue
			check(json.Unmarshal(page, &issues))
			for _, issue := range issues {
				sum += issue.Number + len(issue.Title) + len(issue.User.Login)
			}
		default:
			var issues []json.RawMessage
			check(json.Unmarshal(page, &issues))
			for _, issue := range issues {
				output.Write(issue)
				output.WriteByte('\n')
			}
		}
	}
	if mode != "lines" {
		fmt.Fprintln(output, sum)
	}
	check(output.Flush())
}
