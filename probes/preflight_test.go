package probes

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// A service that drops what comes first while it starts is asked again, one that
// never answers is told with how often it was asked.
func TestFirstRequestIsTriedAgain(t *testing.T) {
	tests := []struct {
		name  string
		drops int // connections that are closed without an answer
		fails string
	}{
		{"two are dropped", 2, ""},
		{"all are dropped", 1 << 20, "5 times within 2s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {})}
			done := make(chan error, 1)
			go func() { done <- s.Serve(&starting{Listener: l, drops: tt.drops}) }()
			defer func() {
				s.Close()
				<-done
			}()
			p, err := aim(t, "http://"+l.Addr().String()+"/", PathFull).Preflight(t.Context(), "preflight", 2)
			if tt.fails == "" && (err != nil || p.Sent != 2) {
				t.Errorf("got %+v, %v", p, err)
			}
			if tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("got %v, want an error with %q", err, tt.fails)
			}
		})
	}
}

// starting closes the first connections.
type starting struct {
	net.Listener
	drops int
}

func (l *starting) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || l.drops == 0 {
			return c, err
		}
		l.drops--
		c.Close()
	}
}
