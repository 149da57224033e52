package action

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// A connection of ours to a Redis is seen, and none to another; by a Unix socket too.
func TestJoined(t *testing.T) {
	one, other := lab.Redis(t), lab.Redis(t)
	self := []int{os.Getpid()}
	c, err := net.Dial("tcp", one.Address)
	if err != nil {
		t.Fatal(err)
	}
	if !Joined(self, []int{one.PID()}) {
		t.Error("a connection over TCP is not seen")
	}
	if Joined([]int{other.PID()}, []int{one.PID()}) {
		t.Error("two Redis that know nothing of each other are joined")
	}
	c.Close()

	path := filepath.Join(t.TempDir(), "s")
	third := exec.Command("redis-server", "--port", "0", "--unixsocket", path, "--save", "")
	if err := third.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { third.Process.Kill(); third.Wait() }()
	for range 200 {
		if c, err = net.Dial("unix", path); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// Asked something, it has accepted.
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if !Joined(self, []int{third.Process.Pid}) {
		t.Error("a connection by a Unix socket is not seen")
	}
	if Joined(self, []int{other.PID()}) {
		t.Error("joined with a Redis that nobody is connected to")
	}
}
