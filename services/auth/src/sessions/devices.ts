import { createHmac, randomBytes } from 'node:crypto';
import type { AccountRecord } from '../accounts/index.ts';

/** Browsers keep no cookie for longer than 400 days. */
export const DEVICE_TOKEN_SECONDS = 400 * 24 * 3600;

const BYTES = 16;
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

/** Creates the registry; `key` signs the proofs. */
export const createDevices = (key: Buffer): Devices => {
  const proofOf = (id: string, account: AccountRecord): string =>
    createHmac('sha256', key)
      .update(`${id}.${account.id}.${account.sessionsRevokedThrough ?? ''}`)
      .digest()
      .subarray(0, BYTES)
      .toString('base64url');
  return {
    recognize: (token, account) => {
      const { id, proofs } = parse(token);
      return id !== undefined && proofs.includes(proofOf(id, account)) ? id : undefined;
    },
    remember: (token, account) => {
      const { id = randomBytes(BYTES).toString('base64url'), proofs } = parse(token);
      const proof = proofOf(id, account);
      const others = proofs.filter((known) => known !== proof);
      return [id, proof, ...others.slice(0, ACCOUNTS_MAX - 1)].join('.');
    },
  };
};

const parse = (token: string | undefined): { id: string | undefined; proofs: string[] } => {
  if (token === undefined || !FORM.test(token)) return { id: undefined, proofs: [] };
  const [id, ...proofs] = token.split('.');
  return { id, proofs };
};
