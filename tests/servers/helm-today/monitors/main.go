// monitors reads objects of Prometheus' operator from standard input, as JSON, one after the other, and fails if one has a field
// that its kind does not have.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

func kind(text []byte) (any, error) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.APIVersion != monitoring.SchemeGroupVersion.String() {
		return nil, fmt.Errorf("unknown apiVersion %q", head.APIVersion)
	}
	switch head.Kind {
	case monitoring.PodMonitorsKind:
		return &monitoring.PodMonitor{}, nil
	case monitoring.ServiceMonitorsKind:
		return &monitoring.ServiceMonitor{}, nil
	case monitoring.PrometheusRuleKind:
		return &monitoring.PrometheusRule{}, nil
	}
	return nil, fmt.Errorf("unknown kind %q", head.Kind)
}

func check(text []byte) error {
	into, err := kind(text)
	if err != nil {
		return err
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	return strict.Decode(into)
}

func main() {
	in := json.NewDecoder(os.Stdin)
	for n := 0; ; n++ {
		var text json.RawMessage
		err := in.Decode(&text)
		if errors.Is(err, io.EOF) && n > 0 {
			return
		}
		if err == nil {
			err = check(text)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "object %d: %v\n", n, err)
			os.Exit(1)
		}
	}
}
