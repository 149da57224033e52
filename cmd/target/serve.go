package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/cmd/target/setup"
	"github.com/ratehammer/ratehammer/scenarios/document"
)

func newServe() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve HTTP behind rate limiters until interrupted",
		Long:  serveHelp(),
		Example: `  target serve --limit 'token-bucket{burst=10,rate=5/1s}' --key header:X-Api-Key --defect 'off-by-one{delta=+1}'
  target serve --all
  target serve --config target.yaml`,
		Args: wrongUse(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := o.config(c)
			if problems := (document.Problems)(nil); errors.As(err, &problems) {
				return err // each has its own hint
			}
			if err != nil {
				return &usageError{command: c.CommandPath(), err: err}
			}
			cfg.Log = slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil))
			return serve(c.Context(), cfg, o.all, c.OutOrStdout())
		},
	}
	o.addFlags(c)
	return c
}

// config reads the flags, or the file that they name.
func (o *serveOptions) config(c *cobra.Command) (server.Config, error) {
	var cfg server.Config
	var err error
	switch {
	case o.file != "":
		cfg, err = o.fromFile(c)
	case o.all:
		cfg, err = o.everything(c)
	default:
		cfg, err = o.fromFlags()
	}
	if err != nil {
		return cfg, err
	}
	cfg.Reread = o.reread(cfg)
	cfg.AdminToken = cmp.Or(o.adminToken, cfg.AdminToken, os.Getenv(tokenVariable))
	return cfg, cfg.Check()
}

// fromFile reads the file. It says everything, so that only flags which do not
// concern it go with it.
func (o *serveOptions) fromFile(c *cobra.Command) (server.Config, error) {
	if err := conflict(c, "config", "admin-token"); err != nil {
		return server.Config{}, err
	}
	return o.readFile()
}

func (o *serveOptions) readFile() (server.Config, error) {
	src, err := document.ReadFile(o.file)
	if err != nil {
		return server.Config{}, fmt.Errorf("--config: %w", err)
	}
	return setup.Parse(o.file, src)
}

// reread gives what to reload: a file that was sent, the file that was named, or
// what the flags have said.
func (o *serveOptions) reread(started server.Config) func([]byte) (server.Config, error) {
	return func(file []byte) (server.Config, error) {
		switch {
		case len(file) > 0:
			return setup.Parse("reload", file)
		case o.file != "":
			return o.readFile()
		}
		return started, nil
	}
}

// conflict is the error of flags that are given beside one which stands for them.
func conflict(c *cobra.Command, by string, allowed ...string) error {
	var errs []error
	allowed = append(allowed, by)
	visitGiven(c, func(name string) {
		for _, a := range allowed {
			if name == a {
				return
			}
		}
		errs = append(errs, fmt.Errorf("--%s and --%s: give one of them", by, name))
	})
	return errors.Join(errs...)
}

// serve runs a server until ctx is done.
func serve(ctx context.Context, cfg server.Config, all bool, stdout io.Writer) error {
	s, err := server.Start(cfg)
	if err != nil {
		return err
	}
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	defer signal.Stop(hangUps)
	if _, err := io.WriteString(stdout, greeting(s, all)); err != nil {
		s.Close()
		return fmt.Errorf("saying where the server listens: %w", err)
	}
	obey(ctx, hangUps, s, cfg.Log)
	if err := s.Close(); err != nil {
		cfg.Log.Warn("not everything ended by itself", "err", err)
	}
	return nil
}

// obey reloads at each hang-up, until ctx is done.
func obey(ctx context.Context, hangUps <-chan os.Signal, s *server.Server, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangUps:
			if err := s.Reread(); err != nil {
				log.Error("not reloaded", "err", err)
			}
		}
	}
}
