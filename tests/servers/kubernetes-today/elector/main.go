// Elector runs a command while it leads by client-go's leaderelection, as a Go controller would do
// its work: with the lock, the times and the release that client-go has, and none of ours.
//
//	elector [flags] COMMAND...
//
// The command finds in TENURE_VERSION the resourceVersion of the Lease, and in TENURE_IDENTITY who
// it runs for. If it ends, elector ends, too, and releases the Lease; on SIGTERM elector ends the
// command first. If the lead is lost, the command is killed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func fail(err error) {
	fmt.Fprintln(os.Stderr, "elector:", err)
	os.Exit(1)
}

func main() {
	server := flag.String("server", "", "URL of the API server")
	ca := flag.String("ca-file", "", "the CA of its certificate")
	token := flag.String("token-file", "", "the token to sign in with")
	namespace := flag.String("namespace", "default", "of the Lease")
	name := flag.String("name", "", "of the Lease")
	id := flag.String("id", "", "who we are")
	duration := flag.Duration("lease-duration", 15*time.Second, "client-go's LeaseDuration")
	deadline := flag.Duration("renew-deadline", 10*time.Second, "client-go's RenewDeadline")
	retry := flag.Duration("retry-period", 2*time.Second, "client-go's RetryPeriod")
	flag.Parse()

	client, err := v1.NewForConfig(&rest.Config{
		Host:            *server,
		BearerTokenFile: *token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: *ca},
	})
	if err != nil {
		fail(err)
	}
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: *namespace, Name: *name},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: *id},
	}

	ctx, cancel := context.WithCancel(context.Background())
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	var command *exec.Cmd
	leads := make(chan struct{})
	lead := func(ctx context.Context) {
		lease, err := client.Leases(*namespace).Get(ctx, *name, metav1.GetOptions{})
		if err != nil {
			fail(err)
		}
		command = exec.Command(flag.Arg(0), flag.Args()[1:]...)
		command.Env = append(os.Environ(), "TENURE_IDENTITY="+*id, "TENURE_VERSION="+lease.ResourceVersion)
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := command.Start(); err != nil {
			fail(err)
		}
		close(leads)
		command.Wait()
		cancel()
	}
	go func() {
		<-terminated
		select {
		case <-leads:
			command.Process.Signal(syscall.SIGTERM)
		default:
			cancel()
		}
	}()
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   *duration,
		RenewDeadline:   *deadline,
		RetryPeriod:     *retry,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: lead,
			OnStoppedLeading: func() {
				select {
				case <-leads:
					command.Process.Kill()
				default:
				}
				fmt.Fprintln(os.Stderr, "elector: leads no more")
			},
			OnNewLeader: func(who string) { fmt.Fprintf(os.Stderr, "elector: leader=%s\n", who) },
		},
	})
}
