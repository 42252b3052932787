import { randomBytes } from 'node:crypto';
import type { Macs } from '@svc/secrets';
import type { AccountRecord } from '../accounts/index.ts';

/** Browsers keep no cookie for longer than 400 days. */
export const DEVICE_TOKEN_SECONDS = 400 * 24 * 3600;

/** Bytes of the proof for an account, and of a device's id. */
export const DEVICE_PROOF_BYTES = 16;
/** Accounts remembered per device. The oldest is dropped. */
const ACCOUNTS_MAX = 8;
/** The device's id and a proof for each account, 16 bytes each in base64url. */
const FORM = new RegExp(`^[A-Za-z0-9_-]{22}(\\.[A-Za-z0-9_-]{22}){0,${ACCOUNTS_MAX}}$`);

/**
 * Recognizes devices that have signed in to an account by a signed token that the device keeps. Signing out everywhere
 * voids the account's proofs, so stolen tokens become useless when the password changes.
 */
export interface Devices {
  /** Returns the id of the device if its token proves an earlier sign-in to this account. */
  readonly recognize: (token: string | undefined, account: AccountRecord) => string | undefined;
  /** Returns the device's token with a proof for this account. A device without a token becomes a new one. */
  readonly remember: (token: string | undefined, account: AccountRecord) => string;
}

/** Creates the registry; `macs` sign the proofs, with `DEVICE_PROOF_BYTES` each. */
export const createDevices = (macs: Macs): Devices => {
  const signed = (id: string, account: AccountRecord): string =>
    `${id}.${account.id}.${account.sessionsRevokedThrough ?? ''}`;
  return {
    recognize: (token, account) => {
      const { id, proofs } = parse(token);
      if (id === undefined) return undefined;
      const data = signed(id, account);
      return proofs.some((proof) => macs.verify(data, Buffer.from(proof, 'base64url'))) ? id : undefined;
    },
    remember: (token, account) => {
      const { id = randomBytes(DEVICE_PROOF_BYTES).toString('base64url'), proofs } = parse(token);
      const data = signed(id, account);
      const proof = macs.sign(data).toString('base64url');
      const others = proofs.filter((known) => !macs.verify(data, Buffer.from(known, 'base64url')));
      return [id, proof, ...others.slice(0, ACCOUNTS_MAX - 1)].join('.');
    },
  };
};

const parse = (token: string | undefined): { id: string | undefined; proofs: string[] } => {
  if (token === undefined || !FORM.test(token)) return { id: undefined, proofs: [] };
  const [id, ...proofs] = token.split('.');
  return { id, proofs };
};
