import type { Sealer } from '@svc/secrets';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import type { PasskeyChallenges } from './passkey-challenge.ts';
import type { RelyingParty } from './relying-party.ts';

/** Dependencies of every operation on second factors. */
export interface FactorsDeps extends MailOutboxDeps {
  readonly database: Executor;
  readonly transact: Transact;
  /** Encrypts the secrets of TOTP factors. */
  readonly totpSealer: Sealer;
  /** Ends the sessions in which an account without a factor acts for organizations that require one. */
  readonly endActingWithoutFactor: (trx: Transaction, userId: string) => Promise<void>;
  readonly passkeyChallenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
}
