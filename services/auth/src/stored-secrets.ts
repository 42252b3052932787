import { createMacs, createSealer, type KeyedColumn, type SecretKeys, type SecretUse } from '@svc/secrets';
import { CHALLENGE_MAC_BYTES } from './factors/index.ts';
import { DEVICE_PROOF_BYTES } from './sessions/index.ts';

/** Opens everything that AUTH_ENCRYPTION_KEY encrypts or signs, each with a derived key. */
export const openSecrets = (keys: SecretKeys) => {
  const signingKeySealer = createSealer(keys, 'signing-keys');
  const mailSealer = createSealer(keys, 'mails');
  const totpSealer = createSealer(keys, 'totp-secrets');
  const secretUse: SecretUse = {
    keys,
    columns: [
      columnOf({ table: 'signing_keys', column: 'sealed_private_key', id: 'kid' }, signingKeySealer.renew),
      columnOf({ table: 'totp_factors', column: 'sealed_secret' }, totpSealer.renew),
      columnOf({ table: 'mails', column: 'sealed_data' }, mailSealer.renew),
      columnOf({ table: 'password_reset_requests', column: 'sealed_request', idType: 'uuid' }, mailSealer.renew),
    ],
  };
  return {
    secretUse,
    signingKeySealer,
    mailSealer,
    totpSealer,
    ssoCookieSealer: createSealer(keys, 'sso-attempts'),
    deviceMacs: createMacs(keys, 'devices', DEVICE_PROOF_BYTES),
    challengeMacs: createMacs(keys, 'passkey-challenges', CHALLENGE_MAC_BYTES),
    formMacs: createMacs(keys, 'authorize-forms'),
    deviceFormMacs: createMacs(keys, 'device-forms'),
    pushedMarkMacs: createMacs(keys, 'pushed-marks'),
    decisionMacs: createMacs(keys, 'decision-codes'),
  };
};

/** Every value is sealed with the id of its row as the context. */
const columnOf = (
  place: Pick<KeyedColumn, 'table' | 'column'> & Partial<Pick<KeyedColumn, 'id' | 'idType'>>,
  renew: (value: Buffer, context: string) => Buffer,
): KeyedColumn => {
  const { id = 'id' } = place;
  return { idType: 'text', ...place, id, renew: (value, row) => renew(value, String(row[id])) };
};
