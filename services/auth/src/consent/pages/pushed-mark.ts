import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AskedQuery } from './asked-query.ts';

/** A request in one browser. */
export interface MarkedRequest {
  readonly query: AskedQuery;
  readonly browserId: string;
}

/**
 * Marks that a query was pushed. A pushed request can be fetched once (RFC 9126 section 4), but signing in or changing
 * the language leads back to the page, so the mark is kept in its address. It is valid for the same browser, in either
 * language.
 */
export interface PushedMarks {
  readonly make: (request: MarkedRequest) => string;
  readonly holds: (mark: string, request: MarkedRequest) => boolean;
}

/** Creates the signer of marks. */
export const createPushedMarks = (key: Buffer): PushedMarks => {
  const macOf = ({ query, browserId }: MarkedRequest): Buffer => {
    const { locale: _free, ...fixed } = query;
    const pairs = Object.entries(fixed).sort(([a], [b]) => (a < b ? -1 : 1));
    return createHmac('sha256', key)
      .update(JSON.stringify([browserId, pairs]))
      .digest();
  };
  return {
    make: (request) => macOf(request).toString('base64url'),
    holds: (mark, request) => {
      const given = Buffer.from(mark, 'base64url');
      const expected = macOf(request);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
};
