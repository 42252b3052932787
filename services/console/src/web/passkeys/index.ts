export { canUsePasskeys, createPasskey, PasskeyError, passkeyObstacle, presentPasskey } from './passkeys.ts';
