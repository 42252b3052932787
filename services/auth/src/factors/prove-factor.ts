import { type AuthenticationResponseJSON, verifyAuthenticationResponse } from '@simplewebauthn/server';
import type { PasskeyAssertion } from '@svc/contracts';
import type { AccountRecord } from '../accounts/index.ts';
import type { Transaction } from '../transact.ts';
import { type FactorsDeps, notifyOwner, recoveryCodeDigest } from './change-factors.ts';
import {
  findPasskeyByCredentialId,
  listPasskeysOfUser,
  type PasskeyPurpose,
  type PasskeyRecord,
  updatePasskeyUse,
  useChallenge,
} from './passkeys.ts';
import { deleteRecoveryCode, hasRecoveryCode, listTotpsOfUser, useTotpStep } from './queries.ts';
import { findTotpStep } from './totp.ts';

/** Proof of a second factor, as submitted. */
export type FactorClaim =
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly assertion: PasskeyAssertion };

/** A valid, unused proof of a second factor. */
interface FactorProof {
  /** Uses the proof up. Returns false if another request used it first. */
  readonly use: (trx: Transaction) => Promise<boolean>;
}

/** Checks a proof of a second factor without using it up. Returns undefined if it is wrong or was used before. */
export const findFactorProof = async (
  deps: FactorsDeps,
  account: AccountRecord,
  { claim, purpose }: { claim: FactorClaim; purpose: 'second_factor' | 'reauthentication' },
): Promise<FactorProof | undefined> => {
  if ('code' in claim) return await findTotpProof(deps, account, claim.code);
  if ('recoveryCode' in claim) return await findRecovery(deps, account, claim);
  return await findAssertionProof(deps, claim.assertion, { purpose, userId: account.id });
};

const findTotpProof = async (
  deps: FactorsDeps,
  account: AccountRecord,
  code: string,
): Promise<FactorProof | undefined> => {
  const now = deps.clock();
  for (const { id, sealedSecret, lastStep } of await listTotpsOfUser(deps.database, account.id)) {
    const step = findTotpStep(deps.totpSealer.unseal(sealedSecret, id), code, now);
    // A code is accepted once (RFC 6238 section 5.2).
    if (step !== undefined && step > (lastStep ?? 0)) return { use: (trx) => useTotpStep(trx, id, { step, now }) };
  }
  return undefined;
};

const findRecovery = async (
  deps: FactorsDeps,
  account: AccountRecord,
  { recoveryCode }: { recoveryCode: string },
): Promise<FactorProof | undefined> => {
  const digest = recoveryCodeDigest(account.id, recoveryCode);
  if (!(await hasRecoveryCode(deps.database, account.id, digest))) return undefined;
  return {
    use: async (trx) => {
      const isFirst = await deleteRecoveryCode(trx, account.id, digest);
      if (isFirst) await notifyOwner(deps, trx, { account, change: 'recovery_code_used', name: '' });
      return isFirst;
    },
  };
};

/** Time that the browser gives the person. */
const TIMEOUT_MS = 120_000;

/** Options for `navigator.credentials.get()`: a `PublicKeyCredentialRequestOptionsJSON`. */
export interface RequestOptions {
  readonly rpId: string;
  readonly challenge: string;
  readonly allowCredentials: readonly { id: string; type: 'public-key'; transports: string[] }[];
  readonly userVerification: 'required' | 'preferred';
  readonly timeout: number;
}

type OptionsDeps = Pick<FactorsDeps, 'relyingParty' | 'passkeyChallenges'>;

/** Purposes of assertions. */
type AssertionPurpose = Exclude<PasskeyPurpose, 'registration'>;

/** After a password, possession is enough. A passkey alone must verify the person (WebAuthn Level 3 section 6.2.3). */
const isVerificationRequired = (purpose: AssertionPurpose): boolean => purpose !== 'second_factor';

/** Returns the options for an assertion of one of the account's passkeys, or undefined if it has none. */
export const createAssertionOptions = async (
  deps: FactorsDeps,
  { purpose, userId }: { purpose: 'second_factor' | 'reauthentication'; userId: string },
): Promise<RequestOptions | undefined> => {
  const passkeys = await listPasskeysOfUser(deps.database, userId);
  return passkeys.length === 0 ? undefined : optionsFor(deps, { purpose, userId, passkeys });
};

/** Returns the options for a sign-in with any passkey. */
export const createSignInOptions = (deps: OptionsDeps): RequestOptions =>
  optionsFor(deps, { purpose: 'sign_in', userId: undefined, passkeys: [] });

const optionsFor = (
  { relyingParty, passkeyChallenges }: OptionsDeps,
  subject: { purpose: AssertionPurpose; userId: string | undefined; passkeys: readonly PasskeyRecord[] },
): RequestOptions => ({
  rpId: relyingParty.id,
  challenge: passkeyChallenges.make(subject).toString('base64url'),
  allowCredentials: subject.passkeys.map(({ credentialId: id, transports }) => ({
    id,
    type: 'public-key',
    transports,
  })),
  userVerification: isVerificationRequired(subject.purpose) ? 'required' : 'preferred',
  timeout: TIMEOUT_MS,
});

/** A valid assertion and the account of its passkey. */
interface AssertionProof extends FactorProof {
  readonly userId: string;
}

/**
 * Validates an assertion without using it up. Returns undefined if it is invalid, or belongs to an account other than
 * `userId`.
 */
export const findAssertionProof = async (
  deps: FactorsDeps,
  assertion: PasskeyAssertion,
  { purpose, userId }: { purpose: AssertionPurpose; userId: string | undefined },
): Promise<AssertionProof | undefined> => {
  const passkey = await findPasskeyByCredentialId(deps.database, assertion.id);
  if (passkey === undefined || (userId !== undefined && passkey.userId !== userId)) return undefined;
  if (!isHandleOf(assertion, passkey)) return undefined;
  const verified = await verifyAssertion(deps, assertion, { passkey, subject: { purpose, userId } });
  if (verified === undefined) return undefined;
  const now = deps.clock();
  return {
    userId: passkey.userId,
    use: async (trx) =>
      (await useChallenge(trx, verified.challenge)) &&
      (await updatePasskeyUse(trx, passkey.id, { counter: verified.counter, now })),
  };
};

/** Checks that the user handle, if sent, names the owner of the passkey (WebAuthn Level 3 section 7.2, step 6). */
const isHandleOf = ({ response: { userHandle } }: PasskeyAssertion, { userId }: PasskeyRecord): boolean =>
  typeof userHandle !== 'string' || Buffer.from(userHandle, 'base64url').toString() === userId;

const verifyAssertion = async (
  deps: FactorsDeps,
  assertion: PasskeyAssertion,
  { passkey, subject }: { passkey: PasskeyRecord; subject: { purpose: AssertionPurpose; userId: string | undefined } },
): Promise<{ challenge: { digest: Buffer; expiresAt: Date }; counter: number } | undefined> => {
  let challenge: { digest: Buffer; expiresAt: Date } | undefined;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      // The contract checks the members that the library reads.
      response: { clientExtensionResults: {}, ...assertion } as AuthenticationResponseJSON,
      expectedChallenge: (sent) => {
        challenge = deps.passkeyChallenges.check(sent, subject);
        return challenge !== undefined;
      },
      expectedOrigin: [...deps.relyingParty.origins],
      expectedRPID: deps.relyingParty.id,
      requireUserVerification: isVerificationRequired(subject.purpose),
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
        transports: passkey.transports,
      },
    });
    return verified && challenge !== undefined ? { challenge, counter: authenticationInfo.newCounter } : undefined;
  } catch {
    // The library throws for every mismatch. The answer gives no reason.
    return undefined;
  }
};
