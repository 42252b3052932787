import type { Clock } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { takePushedRequest } from './pushed-request-queries.ts';

const URN = 'urn:ietf:params:oauth:request_uri:';
const DETAILS = 'authorization_details';
/** Parameters that the authorize page reads. Excludes the claims of a pushed JWT. */
const PARAMETERS = [
  ...['redirect_uri', 'code_challenge', 'code_challenge_method', 'response_type', 'response_mode'],
  ...['state', 'scope', 'locale', 'ui_locales', 'dpop_jkt', 'prompt', 'resource'],
];

/**
 * Returns the query that an app pushed behind a `request_uri` (RFC 9126 section 4), ignoring parameters added by the
 * browser. Returns undefined if it was used, has expired or belongs to another app. An attempt by another app does not
 * use it up.
 */
export const resolvePushedRequest = async (
  deps: { database: Executor; clock: Clock },
  { clientId, requestUri }: { clientId: string; requestUri: string },
): Promise<string | undefined> => {
  // No column can be compared with NUL.
  const taken =
    requestUri.startsWith(URN) && !clientId.includes('\0')
      ? await takePushedRequest(deps.database, { digest: digestOpaqueValue(requestUri.slice(URN.length)), clientId })
      : undefined;
  if (taken === undefined || taken.expiresAt <= deps.clock()) return undefined;
  return pushedQuery(clientId, taken.parameters).toString();
};

/** Returns the pushed parameters that the authorize page reads. No others are stored. */
export const readParameters = (parameters: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(parameters).filter(([name]) => name === DETAILS || PARAMETERS.includes(name)));

/** Converts pushed parameters to a query of the authorize page. */
export const pushedQuery = (clientId: string, parameters: Readonly<Record<string, unknown>>): URLSearchParams => {
  const query = new URLSearchParams({ client_id: clientId });
  for (const name of PARAMETERS) {
    for (const value of [parameters[name]].flat()) if (typeof value === 'string') query.append(name, value);
  }
  // Already parsed by the library.
  const details = parameters[DETAILS];
  if (details !== undefined) query.set(DETAILS, JSON.stringify(details));
  return query;
};
