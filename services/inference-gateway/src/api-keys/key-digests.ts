import { createDigests, type Digests, type KeyedColumn, type SecretKeys, type SecretUse } from '@svc/secrets';

/** Keyed digests of API keys. Without the pepper, a leaked table does not allow guesses to be checked. */
export const createKeyDigests = (pepper: SecretKeys): Digests => createDigests(pepper, 'api-keys');

/** The stored digests of API keys, which can move to another pepper. */
export const keyDigestUse = (pepper: SecretKeys): SecretUse => {
  const { renew } = createKeyDigests(pepper);
  const columnOf = (column: string): KeyedColumn => ({
    table: 'api_keys',
    column,
    id: 'id',
    idType: 'text',
    renew: (value) => renew(value),
  });
  return { keys: pepper, columns: [columnOf('hash'), columnOf('previous_hash')] };
};
