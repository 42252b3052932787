import type { Macs } from '@svc/secrets';
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
export const createPushedMarks = (macs: Macs): PushedMarks => {
  const signed = ({ query, browserId }: MarkedRequest): string => {
    const { locale: _free, ...fixed } = query;
    const pairs = Object.entries(fixed).sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify([browserId, pairs]);
  };
  return {
    make: (request) => macs.sign(signed(request)).toString('base64url'),
    holds: (mark, request) => macs.verify(signed(request), Buffer.from(mark, 'base64url')),
  };
};
