import type { IncomingMessage } from 'node:http';

/** RFC 9112 section 3.2.2: scheme, authority, and the rest of the target. Only the authority may be without a path. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#@]+)(?=[/?]|$)(.*)$/is;

/**
 * Rewrites a target in absolute form to origin form, in place. The authority of the target replaces the `Host` header.
 * Other targets stay as they are.
 */
export const toOriginForm = (req: IncomingMessage): void => {
  const { url = '' } = req;
  if (url.startsWith('/')) return;
  const [, authority, rest = ''] = ABSOLUTE_FORM.exec(url) ?? [];
  if (authority === undefined) return;
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = authority;
};
