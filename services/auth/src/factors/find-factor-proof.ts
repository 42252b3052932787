import type { PasskeyAssertion } from '@svc/contracts';
import type { AccountRecord } from '../accounts/index.ts';
import type { FactorsDeps } from './factors-deps.ts';
import { notifyOwner } from './notify-owner.ts';
import type { FactorProof } from './passkey-assertion.ts';
import { findAssertionProof } from './passkey-assertion.ts';
import { deleteRecoveryCode, hasRecoveryCode, listTotpsOfUser, useTotpStep } from './queries.ts';
import { recoveryCodeDigest } from './recovery-code.ts';
import { findTotpStep } from './totp.ts';

/** Proof of a second factor, as submitted. */
export type FactorClaim =
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly assertion: PasskeyAssertion };

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
