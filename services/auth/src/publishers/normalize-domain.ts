import { domainToASCII } from 'node:url';

/** A host name has at most 253 characters (RFC 1035 section 2.3.4), and the TXT record adds a label. */
const DOMAIN_CHARACTERS_MAX = 235;
/** Characters that end or change the host of a URL. */
const NOT_IN_HOST = /[\s/\\:?#@%[\]]/;
/** At least two labels of letters, digits and hyphens. The last starts with a letter, so it is no IPv4 address. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns a host name in ASCII (punycode) and lower case, without a trailing dot; undefined for other text. Accepts
 * public suffixes of several labels: only their owners can prove them.
 */
export const normalizeDomain = (text: string): string | undefined => {
  if (NOT_IN_HOST.test(text)) return undefined;
  const domain = domainToASCII(text).replace(/\.$/, '');
  return domain.length <= DOMAIN_CHARACTERS_MAX && HOST_NAME.test(domain) ? domain : undefined;
};
