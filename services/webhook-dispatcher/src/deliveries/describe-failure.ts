const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EADDRNOTAVAIL: 'host_unreachable',
  ETIMEDOUT: 'connect_timeout',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name_mismatch',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_not_trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate_not_trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate_not_trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_not_trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_not_trusted',
  CERT_REVOKED: 'certificate_not_trusted',
  INVALID_PURPOSE: 'certificate_not_trusted',
};

/** A short, fixed word for why no answer came; never text that the receiver or a library has chosen. */
export function describeFailure(error: unknown): string {
  const code = codeOf(error);
  const cause = CAUSES[code];
  if (cause !== undefined) return cause;
  if (code.startsWith('HPE_')) return 'answer_not_http';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') return 'tls_failed';
  return 'connection_failed';
}

/** With several addresses tried, the first one's failure speaks for all. */
function codeOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
}
