"""The names that credentials of a target may have: those of Longhorn's secrets, and our own."""

_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
CREDENTIAL_NAMES: dict[str, frozenset[str]] = {
    "s3": frozenset(
        {
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_REGION",
            "AWS_ENDPOINTS",
            "AWS_CERT",
            "AWS_IAM_ROLE_ARN",
            "AWS_SIGN_ACCEPT_ENCODING",  # Longhorn's; we never sign that header, so both answers are right
            "VIRTUAL_HOSTED_STYLE",
            *_PROXIES,
        }
    ),
    "azblob": frozenset({"AZBLOB_ACCOUNT_NAME", "AZBLOB_ACCOUNT_KEY", "AZBLOB_ENDPOINT", "AZBLOB_CERT", *_PROXIES}),
    "gs": frozenset({"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT_KEY", *_PROXIES}),
    "cifs": frozenset({"CIFS_USERNAME", "CIFS_PASSWORD"}),
    "nfs": frozenset(),
    "file": frozenset(),
    "vfs": frozenset(),
}
# Read by the data path, whatever the store; a store never sees them.
ENCRYPTION_NAMES = frozenset({"TIDEGATE_ENCRYPTION_KEY", "TIDEGATE_ENCRYPTION_KEY_FILE"})
