export { PasskeyError } from './passkey-error.ts';
export { canUsePasskeys, createPasskey, presentPasskey } from './passkeys.ts';
