import {
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type RegistrationResponseJSON,
  verifyRegistrationResponse,
  type WebAuthnCredential,
} from '@simplewebauthn/server';
import type { addPasskeyRequestSchema, Locale } from '@svc/contracts';
import { isUniqueViolation } from '@svc/database';
import { AppError } from '@svc/service-kit';
import type { z } from 'zod';
import { findAccountById, updateCredentials } from '../accounts/index.ts';
import { changeFactors, type FactorsDeps, makeRecoveryCodes, notifyOwner } from './change-factors.ts';
import { CREDENTIAL_KEY, insertPasskey, listPasskeysOfUser, useChallenge } from './passkeys.ts';
import { FACTORS_MAX, type FactorRecord, listFactorsOfUser } from './queries.ts';

/** COSE numbers of EdDSA, ES256 and RS256 (RFC 9053), which authenticators use. */
const ALGORITHMS = [-8, -7, -257];
const DEFAULT_NAMES: Readonly<Record<Locale, string>> = { en: 'Passkey', it: 'Passkey' };

/** Returns the options for creating a passkey. Throws `factor_limit_reached`. */
export const createPasskeyOptions = async (
  deps: FactorsDeps,
  userId: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> => {
  const account = await findAccountById(deps.database, userId);
  if (account === undefined) throw new AppError('invalid_token');
  const factors = await listFactorsOfUser(deps.database, userId);
  if (factors.length >= FACTORS_MAX) throw new AppError('factor_limit_reached');
  const known = await listPasskeysOfUser(deps.database, userId);
  const challenge = deps.passkeyChallenges.make({ purpose: 'registration', userId });
  return await generateRegistrationOptions({
    rpName: deps.relyingParty.name,
    rpID: deps.relyingParty.id,
    userID: new TextEncoder().encode(userId),
    userName: account.email,
    userDisplayName: account.displayName ?? account.email,
    challenge: new Uint8Array(challenge),
    supportedAlgorithmIDs: ALGORITHMS,
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
};

/** A new passkey, and recovery codes if it is the first factor of its account. */
export interface AddedPasskey {
  readonly factor: FactorRecord;
  readonly recoveryCodes: string[] | undefined;
}

/** Adds a passkey. Throws `passkey_rejected`, `passkey_registered` and `factor_limit_reached`. */
export const addPasskey = async (
  deps: FactorsDeps,
  userId: string,
  registration: z.output<typeof addPasskeyRequestSchema>,
): Promise<AddedPasskey> => {
  const { credential, challenge } = await verifyRegistration(deps, userId, registration);
  try {
    return await changeFactors(deps, userId, async (trx, account) => {
      if (!(await useChallenge(trx, challenge))) throw new AppError('passkey_rejected');
      const factors = await listFactorsOfUser(trx, userId);
      if (factors.length >= FACTORS_MAX) throw new AppError('factor_limit_reached');
      const createdAt = deps.clock();
      const id = deps.newId('fac', createdAt.getTime());
      const name = registration.name ?? DEFAULT_NAMES[account.locale];
      await insertPasskey(trx, { id, userId, name, ...toColumns(credential), createdAt, lastUsedAt: null });
      await updateCredentials(trx, userId, { hasSecondFactor: true });
      await notifyOwner(deps, trx, { account, change: 'added', name });
      return {
        factor: { id, type: 'passkey', name, createdAt, lastUsedAt: null },
        recoveryCodes: account.hasSecondFactor ? undefined : await makeRecoveryCodes(deps, trx, userId),
      };
    });
  } catch (error) {
    if (isUniqueViolation(error, CREDENTIAL_KEY)) throw new AppError('passkey_registered');
    throw error;
  }
};

const toColumns = ({ id, publicKey, counter, transports }: WebAuthnCredential) => ({
  credentialId: id,
  publicKey: Buffer.from(publicKey),
  counter,
  transports: transports ?? [],
});

const verifyRegistration = async (
  deps: FactorsDeps,
  userId: string,
  registration: z.output<typeof addPasskeyRequestSchema>,
): Promise<{ credential: WebAuthnCredential; challenge: { digest: Buffer; expiresAt: Date } }> => {
  let challenge: { digest: Buffer; expiresAt: Date } | undefined;
  const verified = await verifyRegistrationResponse({
    // The contract checks the members that the library reads.
    response: { clientExtensionResults: {}, ...registration } as RegistrationResponseJSON,
    expectedChallenge: (sent) => {
      challenge = deps.passkeyChallenges.check(sent, { purpose: 'registration', userId });
      return challenge !== undefined;
    },
    expectedOrigin: [...deps.relyingParty.origins],
    expectedRPID: deps.relyingParty.id,
    supportedAlgorithmIDs: ALGORITHMS,
    requireUserVerification: false,
  }).catch((cause: unknown) => {
    // The library throws for every mismatch. The answer gives no reason.
    throw new AppError('passkey_rejected', undefined, { cause });
  });
  if (!verified.verified || challenge === undefined) throw new AppError('passkey_rejected');
  return { credential: verified.registrationInfo.credential, challenge };
};
