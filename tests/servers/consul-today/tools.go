//go:build tools

// Package tools pins today's Consul for the tests: `./dev test` builds exactly these modules.
package tools

import _ "github.com/hashicorp/consul"
