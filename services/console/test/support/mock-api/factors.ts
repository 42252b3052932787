import { randomBytes } from 'node:crypto';
import { type Factor, newId, routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { TOTP } from 'otpauth';
import { freshSession, knownById } from './session-body.ts';
import { type MockState, type Possessions, possessionsOf } from './state.ts';

const RECOVERY_CODES = 10;
/** Browsers allow passkeys at this host without a certificate, and at no IP address. */
const RP_ID = 'localhost';
/** ES256 and RS256: Chromium warns where one is missing. */
const ALGORITHMS = [-7, -257];

/** Second factors, and proving again who the person is. */
export const factorBindings = (state: MockState): Binding[] => [
  ...listBindings(state),
  ...totpBindings(state),
  ...passkeyBindings(state),
  ...proofBindings(state),
];

const newCodes = (owned: Possessions): string[] => {
  owned.recoveryCodes = Array.from({ length: RECOVERY_CODES }, () =>
    randomBytes(12)
      .toString('hex')
      .replaceAll(/.{6}(?=.)/g, '$&-'),
  );
  return owned.recoveryCodes;
};

const newFactor = (id: string, type: Factor['type'], name: string): Factor => ({
  id,
  type,
  name,
  created_at: new Date().toISOString(),
  last_used_at: null,
});

const newChallenge = (owned: Possessions): string => {
  owned.challenge = randomBytes(32).toString('base64url');
  return owned.challenge;
};

/** Returns true if the browser's client data answers the open challenge. */
const isAnswerTo = (owned: Possessions, type: string, clientDataJson: string): boolean => {
  const data = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString());
  return data.type === type && data.challenge === owned.challenge;
};

const listBindings = (state: MockState): Binding[] => [
  bind(routes.listFactors, async ({ caller }) => {
    const { factors, recoveryCodes } = possessionsOf(state, caller.userId);
    return { status: 200, body: { data: factors, recovery_codes_left: recoveryCodes.length } };
  }),
  bind(routes.deleteFactor, async ({ params, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    owned.factors = owned.factors.filter(({ id }) => id !== params.factor_id);
    if (owned.factors.length === 0) owned.recoveryCodes = [];
    return { status: 204 };
  }),
  bind(routes.renewRecoveryCodes, async ({ caller }) => ({
    status: 201,
    body: { recovery_codes: newCodes(possessionsOf(state, caller.userId)) },
  })),
];

const totpBindings = (state: MockState): Binding[] => [
  bind(routes.addTotp, async ({ caller }) => {
    const id = newId('fac');
    const totp = new TOTP({ issuer: 'svc', label: knownById(state, caller.userId).account.email });
    possessionsOf(state, caller.userId).totpSecrets.set(id, totp.secret.base32);
    return { status: 201, body: { id, secret: totp.secret.base32, otpauth_url: totp.toString() } };
  }),
  bind(routes.confirmTotp, async ({ params, body, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    const secret = owned.totpSecrets.get(params.factor_id);
    if (secret === undefined) throw new AppError('not_found');
    if (!isCodeOf(secret, body.code)) throw new AppError('wrong_code');
    owned.factors.push(newFactor(params.factor_id, 'totp', 'Authenticator app'));
    return { status: 200, body: { recovery_codes: newCodes(owned) } };
  }),
];

const isCodeOf = (secret: string, code: string): boolean => new TOTP({ secret }).validate({ token: code }) !== null;

const passkeyBindings = (state: MockState): Binding[] => [
  bind(routes.createPasskeyOptions, async ({ caller }) => {
    const { account } = knownById(state, caller.userId);
    const owned = possessionsOf(state, caller.userId);
    return {
      status: 200,
      body: {
        challenge: newChallenge(owned),
        rp: { id: RP_ID, name: 'svc' },
        user: {
          id: Buffer.from(account.svc_user_id).toString('base64url'),
          name: account.email,
          displayName: account.display_name ?? account.email,
        },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
        attestation: 'none',
        excludeCredentials: [...owned.passkeys].map((id) => ({ id, type: 'public-key' })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      },
    };
  }),
  bind(routes.addPasskey, async ({ body, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    if (!isAnswerTo(owned, 'webauthn.create', body.response.clientDataJSON)) throw new AppError('passkey_rejected');
    const codes = owned.factors.length === 0 ? { recovery_codes: newCodes(owned) } : {};
    const factor = newFactor(newId('fac'), 'passkey', body.name ?? 'Passkey');
    owned.passkeys.add(body.id);
    owned.factors.push(factor);
    return { status: 201, body: { ...factor, ...codes } };
  }),
];

const proofBindings = (state: MockState): Binding[] => [
  bind(routes.createReauthenticationOptions, async ({ caller }) => {
    const owned = possessionsOf(state, caller.userId);
    if (owned.passkeys.size === 0) throw new AppError('second_factor_missing');
    const allowCredentials = [...owned.passkeys].map((id) => ({ id, type: 'public-key' }));
    const challenge = newChallenge(owned);
    return { status: 200, body: { rpId: RP_ID, challenge, allowCredentials, userVerification: 'required' } };
  }),
  bind(routes.reauthenticate, async ({ body, caller }) => {
    const owned = possessionsOf(state, caller.userId);
    const { account, password } = knownById(state, caller.userId);
    const { assertion, code } = body;
    if (assertion != null) {
      const isRight = isAnswerTo(owned, 'webauthn.get', assertion.response.clientDataJSON);
      if (!isRight || !owned.passkeys.has(assertion.id)) throw new AppError('wrong_code');
    } else if (code != null) {
      if (![...owned.totpSecrets.values()].some((secret) => isCodeOf(secret, code))) throw new AppError('wrong_code');
    } else if (body.password !== password) throw new AppError('wrong_password');
    const { session_token, token_type, expires_in } = freshSession(state, account, caller.organization?.id);
    return { status: 200, body: { session_token, token_type, expires_in } };
  }),
];
