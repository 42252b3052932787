import type { Clock } from '../clock.ts';
import type { Executor } from '../transact.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { takePushedRequest } from './pushed-request-queries.ts';

const URN = 'urn:ietf:params:oauth:request_uri:';
/** What the authorize page reads; a pushed JWT's own claims are none of it. */
const PARAMETERS = [
  ...['redirect_uri', 'code_challenge', 'code_challenge_method', 'response_type'],
  ...['state', 'scope', 'locale', 'dpop_jkt', 'prompt'],
];

/**
 * The query that stands behind a `request_uri` (RFC 9126 section 4): what was pushed and nothing of what the browser adds.
 * Undefined where there is none: it was used, has expired or belongs to another app.
 */
export const resolvePushedRequest = async (
  deps: { database: Executor; clock: Clock },
  { clientId, requestUri }: { clientId: string; requestUri: string },
): Promise<string | undefined> => {
  const taken = requestUri.startsWith(URN)
    ? await takePushedRequest(deps.database, digestOpaqueValue(requestUri.slice(URN.length)))
    : undefined;
  if (taken === undefined || taken.clientId !== clientId || taken.expiresAt <= deps.clock()) return undefined;
  return pushedQuery(clientId, taken.parameters).toString();
};

/** What was pushed, as a query of the authorize page. */
export const pushedQuery = (clientId: string, parameters: Readonly<Record<string, unknown>>): URLSearchParams => {
  const query = new URLSearchParams({ client_id: clientId });
  for (const name of PARAMETERS) {
    const value = parameters[name];
    if (typeof value === 'string') query.set(name, value);
  }
  return query;
};
