const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Parses the address of a server that receives credentials: https, http on a loopback host, or any http with
 * `allowInsecure`. Throws a `TypeError` that names the option.
 */
export const readServerUrl = (text: string, option: string, allowInsecure = false): URL => {
  const url = parseUrl(text);
  if (url === undefined || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`${option} must be an absolute URL without user, query or fragment`);
  }
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && (allowInsecure || isLoopback(url)));
  if (!isAllowed)
    throw new TypeError(`${option} must be an https URL; http is for loopback hosts or \`allowInsecure\``);
  return url;
};

const isLoopback = (url: URL): boolean => LOOPBACK_HOSTS.has(url.hostname);

const parseUrl = (text: string): URL | undefined => {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
};
