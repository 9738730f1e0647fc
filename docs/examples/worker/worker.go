// A worker that asks before each write whether it still may. Run it under Tenure:
//
//	go build -o worker worker.go
//	tenure exec --store sqlite --endpoint ./leases --election demo -- ./worker
//
// It prints a line whenever the answer changes, and ends once it is to. The page's layout is in docs/worker-page.md.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	magic  = 0x6761702d756e6574
	layout = 1

	none     = 0
	active   = 1
	draining = 2
)

// page is what Tenure says of our lease, without asking anybody.
type page struct {
	magic    uint64
	layout   uint32
	state    uint32
	sequence uint64
	version  uint64
	stopAt   int64
}

func open(path string) (*page, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	memory, err := syscall.Mmap(int(file.Fd()), 0, int(unsafe.Sizeof(page{})), syscall.PROT_READ,
		syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	p := (*page)(unsafe.Pointer(&memory[0]))
	if p.magic != magic || p.layout != layout {
		return nil, errors.New(path + " is not a page of this layout")
	}
	return p, nil
}

// now is CLOCK_BOOTTIME, which goes on while the machine sleeps, in nanoseconds.
func now() int64 {
	const clockBoottime = 7
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// read gives state and version; none and 0 once the lease is over by our own clock.
func (p *page) read() (state uint32, version uint64) {
	for try := 0; try < 1000; try++ {
		before := atomic.LoadUint64(&p.sequence)
		state, version = atomic.LoadUint32(&p.state), atomic.LoadUint64(&p.version)
		stopAt := atomic.LoadInt64(&p.stopAt)
		if before%2 == 0 && atomic.LoadUint64(&p.sequence) == before {
			// The clock last: what was read can only be older than the question.
			if state == none || now() >= stopAt {
				return none, 0
			}
			return state, version
		}
	}
	return none, 0
}

func main() {
	page, err := open(os.Getenv("TENURE_PAGE"))
	if err != nil {
		fmt.Fprintf(os.Stderr, "no page: %v; start this under `tenure exec --`\n", err)
		os.Exit(1)
	}
	// That it is to end it learns from the page, which also says for how long it may go on.
	signal.Ignore(syscall.SIGTERM)
	for before := ""; ; time.Sleep(5 * time.Millisecond) {
		state, version := page.read()
		line := "may not write"
		switch state {
		case active:
			// Here it would write, and send the version along.
			line = fmt.Sprintf("may write, version %d", version)
		case draining:
			line = fmt.Sprintf("finish, version %d", version)
		}
		if line != before {
			fmt.Println(line)
			before = line
		}
		if state == draining {
			return
		}
	}
}
