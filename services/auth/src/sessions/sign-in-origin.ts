import type { IncomingMessage } from 'node:http';
import { readDeviceToken } from './session-cookies.ts';

/** Origin of a request that starts a session. */
export interface SignInOrigin {
  /** Network address. */
  readonly source: string;
  /** Device token of the request. */
  readonly deviceToken: string | undefined;
  readonly userAgent: string | undefined;
}

/** About twice the longest that browsers send. */
const USER_AGENT_CHARACTERS_MAX = 512;

/** Returns the origin of a request. */
export const signInOriginOf = (
  { req, clientAddress }: { req: IncomingMessage; clientAddress: string },
  publicBaseUrl: string,
): SignInOrigin => ({
  source: clientAddress,
  deviceToken: readDeviceToken(req.headers, publicBaseUrl),
  userAgent: req.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX),
});
