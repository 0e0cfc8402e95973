"""An authority of a test's own, and a certificate that it signed for this machine."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_LONG_AGO, _FAR_AWAY = datetime(2020, 1, 1, tzinfo=UTC), timedelta(days=36_500)


@dataclass(frozen=True)
class OwnAuthority:
    """Nobody trusts it who was not told to."""

    ca_file: Path
    server: ssl.SSLContext
    """For a server on 127.0.0.1."""


def own_authority(directory: Path) -> OwnAuthority:
    """A new one, with its files in this directory."""
    ca_key, key = generate_private_key(SECP256R1()), generate_private_key(SECP256R1())
    ca = _certificate("an authority", ca_key, "an authority", ca_key, x509.BasicConstraints(ca=True, path_length=None))
    here = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    certificate = _certificate("a receiver", key, "an authority", ca_key, here)
    ca_file, chain = directory / "authority.pem", directory / "receiver.pem"
    ca_file.write_bytes(ca.public_bytes(Encoding.PEM))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(chain)
    return OwnAuthority(ca_file, server)


def _certificate(
    name: str,
    key: EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: EllipticCurvePrivateKey,
    extension: x509.ExtensionType,
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(_called(name))
        .issuer_name(_called(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_LONG_AGO)
        .not_valid_after(_LONG_AGO + _FAR_AWAY)
        .add_extension(extension, critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    return builder.sign(issuer_key, SHA256())


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
