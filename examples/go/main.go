package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// snippet

// isOn says whether a flag is on for a user, and gives the fallback when that is unknown.
func isOn(flag, user string, fallback bool) bool {
	context, _ := json.Marshal(map[string]any{"context": map[string]string{"targetingKey": user}})
	url := "http://127.0.0.1:7070/environments/development/ofrep/v1/evaluate/flags/" + flag
	request, err := http.NewRequest("POST", url, strings.NewReader(string(context)))
	if err != nil {
		return fallback
	}
	request.Header.Set("X-API-Key", os.Getenv("HALYARD_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fallback
	}
	defer response.Body.Close()
	answer := struct{ Value any }{fallback}
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&answer) != nil {
		return fallback
	}
	value, isBool := answer.Value.(bool)
	return isBool && value
}

// end of snippet

func main() {
	fmt.Println("dark-mode", isOn("dark-mode", "user-1", false))
}
