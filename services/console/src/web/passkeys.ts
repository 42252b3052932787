import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { Answer, Input } from './api/index.ts';

/** Reason why the browser created or used no passkey. */
type PasskeyErrorCode = 'passkey_cancelled' | 'passkey_registered' | 'passkey_unavailable';

/** Thrown if the browser did not create or use a passkey. */
export class PasskeyError extends Error {
  readonly code: PasskeyErrorCode;

  constructor(code: PasskeyErrorCode, cause: unknown) {
    super(code, { cause });
    this.name = 'PasskeyError';
    this.code = code;
  }
}

type Registration = Input<'addPasskey'>['body'];
type Assertion = NonNullable<Input<'reauthenticate'>['body']['assertion']>;

/**
 * Converts between the API's JSON and the browser's interface, also in browsers without that function. Loaded on first
 * use.
 */
const loadLibrary = () => import('@simplewebauthn/browser');

/** An IPv4 address, or an IPv6 one in brackets. */
const IP_ADDRESS = /^(?:\d+(?:\.\d+){3}|\[.*\])$/;

/** Returns the reason why passkeys cannot work here: they belong to a host name, never to an address (WebAuthn Level 3 §5.1.3). */
export const passkeyObstacle = (hostname: string = window.location.hostname): 'browser' | 'ip_address' | undefined => {
  if (!('PublicKeyCredential' in globalThis)) return 'browser';
  return IP_ADDRESS.test(hostname) ? 'ip_address' : undefined;
};

/** Returns true if passkeys can work in this browser, at this address. */
export const canUsePasskeys = (): boolean => passkeyObstacle() === undefined;

/** Asks the person to create a passkey. Rejects with PasskeyError. */
export const createPasskey = async (options: Answer<'createPasskeyOptions'>): Promise<Registration> => {
  const { startRegistration } = await loadLibrary();
  // The service creates the options with the library's counterpart. The contract names only the members that it checks.
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON;
  const { response, clientExtensionResults, ...rest } = await startRegistration({ optionsJSON }).catch(fail);
  return { ...rest, response: { ...response }, clientExtensionResults: { ...clientExtensionResults } };
};

/** Asks the person to use a passkey. Rejects with PasskeyError. */
export const presentPasskey = async (options: Answer<'createReauthenticationOptions'>): Promise<Assertion> => {
  const { startAuthentication } = await loadLibrary();
  // As above.
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
  const { response, clientExtensionResults, ...rest } = await startAuthentication({ optionsJSON }).catch(fail);
  return { ...rest, response: { ...response }, clientExtensionResults: { ...clientExtensionResults } };
};

const fail = (cause: unknown): never => {
  throw toPasskeyError(cause);
};

/** Converts a failure of `navigator.credentials` (WebAuthn Level 3 sections 5.1.3 and 5.1.4). */
export const toPasskeyError = (cause: unknown): PasskeyError => {
  switch (cause instanceof Error ? cause.name : '') {
    case 'NotAllowedError':
    case 'AbortError':
      return new PasskeyError('passkey_cancelled', cause);
    case 'InvalidStateError':
      return new PasskeyError('passkey_registered', cause);
    default:
      return new PasskeyError('passkey_unavailable', cause);
  }
};
