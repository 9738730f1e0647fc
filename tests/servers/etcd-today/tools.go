//go:build tools

// Package tools pins today's etcd for the tests: `./dev test` builds exactly these modules.
package tools

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/etcdutl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
