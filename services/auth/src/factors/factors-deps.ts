import type { MailOutboxDeps } from '../mail/index.ts';
import type { Executor, Transact } from '../transact.ts';
import type { PasskeyChallenges } from './passkey-challenge.ts';
import type { RelyingParty } from './relying-party.ts';

/** Parts that every operation on second factors works with. */
export interface FactorsDeps extends MailOutboxDeps {
  readonly database: Executor;
  readonly transact: Transact;
  /** Encrypts the secrets of TOTP factors. */
  readonly totpKey: Buffer;
  readonly passkeyChallenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
}
