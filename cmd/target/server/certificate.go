package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// certificate is one that the server has signed itself, for as long as it runs.
type certificate struct {
	pair tls.Certificate
	pem  []byte // what a client has to trust
}

// selfSigned makes a certificate for this machine's loopback names and the given
// addresses.
func selfSigned(addresses []net.Addr) (*certificate, error) {
	fail := func(err error) (*certificate, error) { return nil, fmt.Errorf("making a certificate: %w", err) }
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return fail(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "ratehammer target"},
		NotBefore:             now.Add(-time.Hour), // the client's clock may be behind
		NotAfter:              now.AddDate(0, 0, 90),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // so that it can be trusted as it stands
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, a := range addresses {
		if tcp, ok := a.(*net.TCPAddr); ok && !tcp.IP.IsUnspecified() {
			template.IPAddresses = append(template.IPAddresses, tcp.IP)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return fail(err)
	}
	return &certificate{
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private},
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}
