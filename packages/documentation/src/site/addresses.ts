import { posix } from 'node:path';

/** Path of the documentation. */
export const ROOT = '/docs';

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Returns the address of a source below `docs/`: guides are at the root, folders keep their name. */
export const addressOf = (source: string): string => {
  const path = source
    .replace(/\.md$/, '')
    .replace(/^guides\//, '')
    .replace(/(^|\/)index$/, '');
  return path === '' ? ROOT : `${ROOT}/${path}`;
};

/** Resolves a link in `source`; undefined if the site has no such page. */
export const resolveHref = (source: string, href: string, sources: ReadonlySet<string>): string | undefined => {
  if (HAS_SCHEME.test(href) || href.startsWith('/') || href.startsWith('#')) return href;
  const [path = '', anchor] = href.split('#', 2);
  const target = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, '');
  if (!sources.has(target)) return undefined;
  return addressOf(target) + (anchor === undefined ? '' : `#${anchor}`);
};
