package web

import (
	"errors"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// errNotPublic is the error for a refused connection.
var errNotPublic = errors.New("the address is not on the public internet")

// control checks each address before it is dialled, after DNS resolution. A check of the URL would miss names that
// resolve differently a second time (DNS rebinding).
type control func(network, address string, c syscall.RawConn) error

// metadata lists the addresses of cloud metadata services, which serve a machine's credentials and user data. Each
// comment names the vendor's documentation. Most IPv4 addresses are also in a range of reserved; isMetadata needs
// them one by one.
var metadata = []netip.Prefix{
	// The address that most vendors share. AWS, “Access instance metadata for an EC2 instance”; Google Cloud, “About
	// VM metadata”; Azure, “Azure Instance Metadata Service for virtual machines”; Oracle Cloud, “Getting Instance
	// Metadata”; IBM Cloud, “About Instance Metadata for VPC”; DigitalOcean, “How to Access Droplet Metadata”; Hetzner
	// Cloud API, “Server Metadata”; Akamai, “Use the Metadata service API”; OpenStack Nova, “Metadata service”. Vultr,
	// OVHcloud, Exoscale, UpCloud, Huawei Cloud and Yandex Cloud use it as well.
	netip.MustParsePrefix("169.254.169.254/32"),
	// AWS, “Amazon ECS task metadata endpoint version 4”, “Task IAM role” and “How EKS Pod Identity works”.
	netip.MustParsePrefix("169.254.170.2/32"), netip.MustParsePrefix("169.254.170.23/32"),
	// AWS, “Access instance metadata for an EC2 instance”: fd00:ec2::254, with fd00:ec2::23 for EKS Pod Identity.
	netip.MustParsePrefix("fd00:ec2::/32"),
	// Azure, “What is IP address 168.63.129.16?”: the WireServer.
	netip.MustParsePrefix("168.63.129.16/32"),
	// Google Cloud, “View and query VM metadata”: machines with IPv6 alone.
	netip.MustParsePrefix("fd20:ce::254/128"),
	// Oracle Cloud, “Getting Instance Metadata” (IPv6), and “Retrieving Instance Metadata” of the classic cloud.
	netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), netip.MustParsePrefix("192.0.0.192/32"),
	// Scaleway, “How to use the instance metadata API”; the same addresses are in cloud-init, “Scaleway”.
	netip.MustParsePrefix("169.254.42.42/32"), netip.MustParsePrefix("fd00:42::42/128"),
	// Akamai (Linode), “Use the Metadata service API”.
	netip.MustParsePrefix("fd00:a9fe:a9fe::1/128"),
	// Alibaba Cloud, “Access instance metadata”.
	netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("fd00:100::100:200/128"),
	// Tencent Cloud, “Querying Instance Metadata”.
	netip.MustParsePrefix("169.254.0.23/32"), netip.MustParsePrefix("169.254.10.10/32"),
	// Equinix Metal, “Metadata”: metadata.platformequinix.com and metadata.packet.net.
	netip.MustParsePrefix("192.80.8.124/32"),
}

// reserved lists ranges without public servers: link-local, “this network”, protocol assignments, multicast and
// reserved, and the IPv6 ranges that embed IPv4 addresses (NAT64, 6to4, Teredo).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("224.0.0.0/4"), netip.MustParsePrefix("ff00::/8"), netip.MustParsePrefix("240.0.0.0/4"),
}

// isMetadata reports whether an address leads to a metadata service. The last four bytes of an IPv6 address are
// checked too: NAT64 with a network-specific prefix (RFC 6052) and ISATAP (RFC 5214) embed an IPv4 address there.
func isMetadata(ip netip.Addr) bool {
	if contains(metadata, ip) {
		return true
	}
	b := ip.As16()
	return contains(metadata, netip.AddrFrom4([4]byte(b[12:])))
}

// contains reports whether one of the prefixes contains ip.
func contains(list []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// guard returns the check for all connections to addresses of a user, a page or a model. It allows the public
// internet and the addresses that allow accepts, but never metadata services or reserved ranges. Its errors wrap
// why.
func guard(why error, allow func(netip.AddrPort) bool, options ...ssrf.Option) control {
	public := ssrf.New(options...)
	return func(network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return errors.Join(why, err)
		}
		ip := at.Addr().Unmap().WithZone("")
		if isMetadata(ip) || contains(reserved, ip) {
			return why
		}
		if allow(netip.AddrPortFrom(ip, at.Port())) {
			return nil
		}
		if err := public.Safe(network, address, c); err != nil {
			return errors.Join(why, err)
		}
		return nil
	}
}

// publicOnly allows the public internet on ports 80 and 443, and the listed addresses with their ports.
func publicOnly(allow []netip.AddrPort, options ...ssrf.Option) control {
	return guard(errNotPublic, func(at netip.AddrPort) bool { return slices.Contains(allow, at) }, options...)
}
