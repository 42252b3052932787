import type { KeyedColumn, SecretKeys, SecretUse } from '@svc/secrets';
import { createSecretBox } from '../signatures.ts';

/** The stored signing secrets, which can move to another key. */
export const signingSecretUse = (keys: SecretKeys): SecretUse => {
  const box = createSecretBox(keys);
  const columnOf = (column: string): KeyedColumn => ({
    table: 'configurations',
    column,
    id: 'owner_id',
    idType: 'text',
    reads: ['generation'],
    renew: (sealed, row) =>
      box.renew(sealed, { ownerId: String(row['owner_id']), generation: Number(row['generation']) }),
  });
  return { keys, columns: [columnOf('secret_sealed'), columnOf('previous_sealed')] };
};
