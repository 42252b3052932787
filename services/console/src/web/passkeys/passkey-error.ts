/** Reason why the browser created or used no passkey. */
export type PasskeyErrorCode = 'passkey_cancelled' | 'passkey_registered' | 'passkey_unavailable';

/** Thrown if the browser did not create or use a passkey. */
export class PasskeyError extends Error {
  readonly code: PasskeyErrorCode;

  constructor(code: PasskeyErrorCode, cause: unknown) {
    super(code, { cause });
    this.name = 'PasskeyError';
    this.code = code;
  }
}

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
