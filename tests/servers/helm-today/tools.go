//go:build tools

// Package tools pins today's Helm for the tests: `./dev test` builds exactly these modules.
package tools

import (
	_ "helm.sh/helm/v4/cmd/helm"
)
