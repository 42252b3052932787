import type { IncomingMessage } from 'node:http';

type MediaType = 'text/html' | 'application/json';

/**
 * Returns true if the caller prefers HTML to JSON (RFC 9110 section 12.5.1). A bare wildcard, which scripts send, is no
 * preference.
 */
export const prefersHtml = (req: IncomingMessage): boolean =>
  weightOf(req, 'text/html') > weightOf(req, 'application/json');

/** Returns true if the caller accepts JSON but not HTML. */
export const acceptsOnlyJson = (req: IncomingMessage): boolean =>
  weightOf(req, 'text/html') === 0 && weightOf(req, 'application/json') > 0;

/** Returns the weight of a type: that of the most specific range that covers it, 0 if none does. */
const weightOf = (req: IncomingMessage, type: MediaType): number => {
  const [group = ''] = type.split('/', 1);
  const weights = new Map((req.headers.accept ?? '*/*').split(',').map(readRange));
  return weights.get(type) ?? weights.get(`${group}/*`) ?? weights.get('*/*') ?? 0;
};

const readRange = (range: string): [string, number] => {
  const [type = '', ...parameters] = range.toLowerCase().split(';');
  const weight = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
  // Every JSON media type counts (RFC 6839 section 3.1).
  return [type.trim().replace(/^application\/\S+\+json$/, 'application/json'), Number(weight ?? 1)];
};
