import { DEFAULT_SCOPE, DEVICE_GRANT_TYPE, deviceAuthorizationShape, routePaths } from '../generated/contract.ts';
import { ConnectError } from './connect-error.ts';
import type { ConnectedUser } from './connector.ts';
import { type BudgetProposal, toDetails } from './connector.ts';
import type { TokenSet } from './token-request.ts';
import { clockOf, type OAuthClientOptions, postForm, requestTokens, toTransport } from './token-request.ts';

/** RFC 8628 section 3.5: each `slow_down` makes the interval longer by this much. */
const SLOW_DOWN_SECONDS = 5;
/** Longest pause while the service does not answer. */
const PAUSE_SECONDS_MAX = 60;

/** Code and addresses that a device shows to its user. */
export interface DevicePrompt {
  readonly userCode: string;
  /** Page on which the user enters the code. */
  readonly verificationUri: string;
  /** The same page with the code, for a QR code or a link. The page asks to compare the code. */
  readonly verificationUriComplete: string;
  readonly expiresAt: Date;
}

export interface ConnectDeviceOptions extends OAuthClientOptions {
  /** Name of this device, shown to the user: 1 to 80 characters, such as `Laptop, terminal`. */
  readonly deviceName?: string | undefined;
  readonly budget?: BudgetProposal | undefined;
  /** Shows code and address to the user. */
  readonly onPrompt: (prompt: DevicePrompt) => void | Promise<void>;
  /** Ends the flow with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** A replacement for the timer between two polls. */
  readonly wait?: ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

/**
 * Connects a user on a device without a browser (RFC 8628): shows a code, and waits until the user has decided
 * elsewhere. The app needs `device_flow`. Throws `ConnectError`: `denied`, `expired` after ten minutes, and the reasons
 * of other flows.
 */
export const connectDevice = async (options: ConnectDeviceOptions): Promise<ConnectedUser> => {
  const { signal, wait = waitFor } = options;
  const transport = toTransport(options);
  const clock = clockOf(options);
  const answer = await postForm(transport, routePaths.deviceAuthorization, {
    scope: options.scope ?? DEFAULT_SCOPE,
    ...(options.deviceName === undefined ? {} : { device_name: options.deviceName }),
    ...(options.budget === undefined ? {} : { authorization_details: toDetails(options.budget) }),
  });
  const codes = readCodes(answer, transport.issuer);
  const expiresAt = new Date(clock().getTime() + codes.expires_in * 1000);
  await options.onPrompt({
    userCode: codes.user_code,
    verificationUri: codes.verification_uri,
    verificationUriComplete: codes.verification_uri_complete,
    expiresAt,
  });
  let pauseSeconds = codes.interval;
  while (clock() < expiresAt) {
    await wait(pauseSeconds * 1000, signal);
    const fields = { grant_type: DEVICE_GRANT_TYPE, device_code: codes.device_code };
    const outcome = await requestTokens(transport, clock, fields).catch(toPause);
    if (typeof outcome === 'object') return { svcUserId: outcome.svcUserId, tokens: outcome };
    if (outcome === 'slow_down') pauseSeconds += SLOW_DOWN_SECONDS;
    if (outcome === 'unavailable') pauseSeconds = Math.min(PAUSE_SECONDS_MAX, pauseSeconds * 2);
  }
  throw new ConnectError('expired');
};

/** Returns the reason to poll again. Throws any other failure. */
const toPause = (error: unknown): 'authorization_pending' | 'slow_down' | 'unavailable' | TokenSet => {
  if (!(error instanceof ConnectError)) throw error;
  if (error.oauthError === 'authorization_pending' || error.oauthError === 'slow_down') return error.oauthError;
  if (error.reason === 'unavailable') return 'unavailable';
  throw error;
};

/** Reads the answer. Users are sent to no other place than the service. */
const readCodes = (answer: unknown, issuer: URL): ReturnType<typeof deviceAuthorizationShape> => {
  try {
    const codes = deviceAuthorizationShape(answer, 'device authorization');
    for (const uri of [codes.verification_uri, codes.verification_uri_complete]) {
      if (new URL(uri).origin !== issuer.origin) throw new TypeError('a page of another origin');
    }
    return codes;
  } catch (cause) {
    throw new ConnectError('rejected', { cause });
  }
};

const waitFor = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
