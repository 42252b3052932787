const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  UND_ERR_HEADERS_OVERFLOW: 'answer_not_http',
  // undici's code for an answer that switches the protocol (101).
  ERR_ASSERTION: 'answer_not_http',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection_reset',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EADDRNOTAVAIL: 'host_unreachable',
  ETIMEDOUT: 'connect_timeout',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name_mismatch',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
};

/** OpenSSL's codes for a faulty certificate chain. */
const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_(SIGNATURE|REVOKED|UNTRUSTED|REJECTED|CHAIN)|INVALID_(CA|PURPOSE)|PATH_LENGTH)/;

/** Returns a fixed word for a failed request. Never text of the receiver or of a library. */
export const describeFailure = (error: unknown): string => {
  const code = codeOf(error);
  const cause = CAUSES[code];
  if (cause !== undefined) return cause;
  if (UNTRUSTED.test(code)) return 'certificate_not_trusted';
  // For a malformed answer undici gives its parser's code, or none.
  if (error instanceof Error && error.name === 'HTTPParserError') return 'answer_not_http';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') return 'tls_failed';
  return 'connection_failed';
};

/** Returns the first failure's code if several addresses were tried. */
const codeOf = (error: unknown): string => {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
};
