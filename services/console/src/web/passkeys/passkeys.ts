import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { Answer, Input } from '../api/index.ts';
import { toPasskeyError } from './passkey-error.ts';

type Registration = Input<'addPasskey'>['body'];
type Assertion = NonNullable<Input<'reauthenticate'>['body']['assertion']>;

/**
 * Converts between the API's JSON and the browser's interface, also in browsers without that function. Loaded on first
 * use.
 */
const loadLibrary = () => import('@simplewebauthn/browser');

/** Returns true if this browser supports passkeys. */
export const canUsePasskeys = (): boolean => 'PublicKeyCredential' in window;

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
