package page

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
)

// browser is a real Chromium that is spoken to over two pipes, in the DevTools
// protocol: messages of JSON that end with a NUL byte.
type browser struct {
	t       *testing.T
	in      io.Writer
	replies chan reply
	session string
	n       int
	errors  []string // what the console said, and what was thrown
	asked   []string // what was loaded
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := lab.Need(t, "chromium-headless-shell", "chromium-headless-shell")
	profile, err := os.MkdirTemp("", "hammer-page")
	if err != nil {
		t.Fatal(err)
	}
	toChild, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromChild, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{toChild, fromChild}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toChild.Close()
	fromChild.Close()
	b := &browser{t: t, in: in, replies: make(chan reply, 1000)}
	go b.listen(out)
	t.Cleanup(func() {
		// It ends by itself when its pipes do, with all of its processes; one that hangs is killed.
		in.Close()
		hung := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		hung.Stop()
		out.Close()
		os.RemoveAll(profile)
	})
	return b
}

// page is a new one, of this size.
func (b *browser) page(t *testing.T, width, height int) {
	b.t, b.session, b.errors, b.asked = t, "", nil, nil
	b.attach()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

func (b *browser) listen(out io.Reader) {
	defer close(b.replies)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m reply
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			b.replies <- m
		}
	}
}

// attach opens a page and hears what it loads and what goes wrong in it.
func (b *browser) attach() {
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
}

// call asks for something and waits for the answer.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.n++
	m := map[string]any{"id": b.n, "method": method, "params": params}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	b.until(method, func(r reply) bool {
		if r.ID != b.n {
			return false
		}
		if r.Error != nil {
			b.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return true
	})
}

// until hears messages until one is what is waited for.
func (b *browser) until(what string, is func(reply) bool) {
	b.t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case r, ok := <-b.replies:
			if !ok {
				b.t.Fatalf("%s: the browser has gone", what)
			}
			b.hear(r)
			if is(r) {
				return
			}
		case <-timeout:
			b.t.Fatalf("%s: no answer in a minute", what)
		}
	}
}

func (b *browser) hear(r reply) {
	switch r.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
		b.errors = append(b.errors, string(r.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(r.Params, &p) == nil {
			b.asked = append(b.asked, p.Request.URL)
		}
	}
}

// open loads a page from a file.
func (b *browser) open(text string) (address string) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	address = (&url.URL{Scheme: "file", Path: path}).String()
	b.call("Page.navigate", map[string]any{"url": address}, nil)
	b.until("loading the page", func(r reply) bool { return r.Method == "Page.loadEventFired" })
	return address
}

// eval is the value of an expression in the page, as JSON.
func eval[T any](b *browser, expression string) (value T) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	if err := json.Unmarshal(answer.Result.Value, &value); err != nil {
		b.t.Fatalf("%s: %v in %s", expression, err, answer.Result.Value)
	}
	return value
}

func (b *browser) mouse(kind string, x, y float64, buttons int) {
	b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": map[int]string{0: "none", 1: "left"}[buttons], "buttons": buttons, "clickCount": buttons}, nil)
}

func (b *browser) key(key string) {
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": map[bool]string{true: key}[len(key) == 1]}, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

const shownRange = `document.getElementById('range').textContent`

// The page is held against a real browser.
func TestPageInBrowser(t *testing.T) {
	b := openBrowser(t)
	t.Run("use", func(t *testing.T) { b.page(t, 1280, 900); pageIsUsed(t, b) })
	t.Run("narrow", func(t *testing.T) { b.page(t, 400, 860); pageIsNarrow(t, b) })
	t.Run("hostile", func(t *testing.T) { b.page(t, 400, 800); pageRunsNothingHostile(t, b) })
	t.Run("any length", func(t *testing.T) { b.page(t, 1280, 900); pageOfAnyLength(t, b) })
}

// The page opens, zooms, and shows a request, with the mouse and with the keyboard.
func pageIsUsed(t *testing.T, b *browser) {
	address := b.open(written(t, burst(300)))
	for _, id := range []string{"timeline", "curves", "waits", "latency", "load"} {
		if eval[bool](b, fmt.Sprintf("document.getElementById(%q).hidden", id)) {
			t.Errorf("the chart %s is not shown", id)
		}
	}
	first := eval[string](b, "document.body.innerText.slice(0, 120)")
	if !strings.Contains(first, "11 requests admitted within 3 ms") {
		t.Errorf("the page begins with %q", first)
	}
	whole := eval[string](b, shownRange)

	// The first finding's button shows its window, and a request can be pointed at there.
	eval[bool](b, "document.querySelector('#jumps button').click() || true")
	zoomed := eval[string](b, shownRange)
	if zoomed == whole {
		t.Errorf("the finding is not zoomed to: still %q", whole)
	}
	box := eval[struct{ X, Y, W float64 }](b, "(r => ({X: r.left, Y: r.top, W: r.width}))(document.getElementById('lanes').getBoundingClientRect())")
	tip := ""
	for x := box.X + 200; x < box.X+box.W && tip == ""; x += 4 {
		b.mouse("mouseMoved", x, box.Y+54+46+18, 0)
		tip = eval[string](b, "document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText")
	}
	for _, want := range []string{"request ", "200 admitted", "volley/1", "bound.upper"} {
		if !strings.Contains(tip, want) {
			t.Errorf("pointing at the lane shows %q, want %q in it", tip, want)
		}
	}

	// What was done to the server is told above the lanes.
	told := ""
	eval[bool](b, "document.getElementById('whole').click() || true")
	for x := box.X + 200; x < box.X+box.W && !strings.Contains(told, "clock -10 s"); x += 5 {
		b.mouse("mouseMoved", x, box.Y+40, 0)
		told = eval[string](b, "document.getElementById('tip').innerText")
	}
	if !strings.Contains(told, "done to the server: clock -10 s") {
		t.Errorf("pointing above the lanes shows %q, want the step of the clock", told)
	}
	zoomed = eval[string](b, shownRange)

	// A stretch that is drawn over is zoomed to.
	b.mouse("mousePressed", box.X+400, box.Y+80, 1)
	b.mouse("mouseMoved", box.X+600, box.Y+80, 1)
	b.mouse("mouseReleased", box.X+600, box.Y+80, 1)
	if drawn := eval[string](b, shownRange); drawn == zoomed {
		t.Errorf("drawing over a stretch does not zoom: still %q", zoomed)
	}

	// The keyboard does all of it.
	eval[bool](b, "document.getElementById('lanes').focus() || true")
	b.key("0")
	if got := eval[string](b, shownRange); got != whole {
		t.Errorf("0 shows %q, want %q", got, whole)
	}
	b.key("+")
	if got := eval[string](b, shownRange); got == whole {
		t.Errorf("+ does not zoom")
	}
	b.key("0")
	b.key("Escape")
	b.key("n")
	if said := eval[string](b, "document.getElementById('said').textContent"); !strings.HasPrefix(said, "request 1,") {
		t.Errorf("n says %q, want a request", said)
	}
	b.quiet(t, address)
}

// On a narrow screen whoever sees no more than the first of it knows what is wrong, on
// whose key and when, and no chart has a word that is cut off or an axis without numbers.
func pageIsNarrow(t *testing.T, b *browser) {
	address := b.open(written(t, burst(300)))
	for _, element := range []string{"h1", ".where", ".whose", "#next-title"} {
		if bottom := eval[float64](b, fmt.Sprintf("document.querySelector(%q).getBoundingClientRect().bottom", element)); bottom > 860 {
			t.Errorf("%s ends at %v, below the first screen", element, bottom)
		}
	}
	if got := eval[string](b, "document.querySelector('.whose').innerText"); !strings.Contains(got, "client 1 of phase volley: all at once") {
		t.Errorf("the key is explained as %q", got)
	}
	cut := eval[[]string](b, `[...document.querySelectorAll('.chart svg text')].filter((t) => {
		const w = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
		return w.left < s.left - 1 || w.right > s.right + 1;
	}).map((t) => t.textContent)`)
	if len(cut) > 0 {
		t.Errorf("words of charts are cut off: %q", cut)
	}
	bare := eval[[]string](b, `[...document.querySelectorAll('.chart .plot > svg, .chart figure > svg')].filter((s) => [...s.querySelectorAll('text')].filter((t) => /\d/.test(t.textContent)).length < 4).map((s) => s.getAttribute('aria-label'))`)
	if len(bare) > 0 {
		t.Errorf("charts without numbers on their axes: %q", bare)
	}

	// What is folded away is there on paper, and folded away again behind it.
	const folded = "document.querySelectorAll('details:not([open])').length"
	before := eval[int](b, folded)
	if got := eval[int](b, "dispatchEvent(new Event('beforeprint')) && "+folded); before == 0 || got != 0 {
		t.Errorf("on paper %d of %d folded parts are not there", got, before)
	}
	if got := eval[int](b, "dispatchEvent(new Event('afterprint')) && "+folded); got != before {
		t.Errorf("behind printing %d parts are folded away, want %d", got, before)
	}
	b.quiet(t, address)
}

// quiet fails if anything went wrong in the page, or it loaded anything but itself.
func (b *browser) quiet(t *testing.T, address string) {
	t.Helper()
	for _, e := range b.errors {
		t.Errorf("the console says %s", e)
	}
	for _, u := range b.asked {
		if u != address && !strings.HasPrefix(u, "data:") && u != "about:blank" {
			t.Errorf("the page asks for %s", u)
		}
	}
	if wide := eval[float64](b, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		t.Errorf("the page is %v pixels wider than the window", wide)
	}
}

// What a header or a key holds is shown, and never run.
func pageRunsNothingHostile(t *testing.T, b *browser) {
	address := b.open(written(t, hostile()))
	eval[bool](b, "document.getElementById('lanes').focus() || true")
	b.key("n")
	if !strings.Contains(eval[string](b, "document.getElementById('tip').innerText"), "<script>") {
		t.Error("the request's texts are not shown as they are")
	}
	if eval[bool](b, "window.hurt === 1") {
		t.Error("a text from outside was run")
	}
	if n := eval[int](b, "document.querySelectorAll('img').length"); n != 0 {
		t.Errorf("got %d images, want none", n)
	}
	b.quiet(t, address)
}

// An empty run, and a long one, are drawn without an error.
func pageOfAnyLength(t *testing.T, b *browser) {
	for _, n := range []int64{0, 30_000} {
		address := b.open(written(t, burst(n)))
		eval[bool](b, "document.getElementById('fold').click() || true")
		for range 4 {
			eval[bool](b, "document.getElementById('closer').click() || true")
		}
		b.quiet(t, address)
		b.asked, b.errors = nil, nil
	}
}
