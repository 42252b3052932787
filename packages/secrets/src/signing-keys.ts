import { type DerivedKeys, openDerivedKeys, type PublicSigningKey } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { SecretKeys } from './secret-keys.ts';
import type { SecretUse } from './stored-values.ts';

/** Keys that sign for others to verify, which stay published when their secret is removed. */
export interface SigningKeys {
  readonly keys: DerivedKeys;
  readonly use: SecretUse;
  /** Stops publishing the keys of former secrets. Returns their number. */
  readonly withdraw: () => Promise<number>;
}

export interface SigningKeysOptions {
  readonly secrets: SecretKeys;
  readonly database: Knex;
  /** Name and `typ` of what the keys sign. */
  readonly purpose: string;
  readonly typ: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Creates `former_signing_keys`, in a migration of the service. */
export const formerSigningKeysMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE former_signing_keys (
      kid text CONSTRAINT former_signing_keys_pkey PRIMARY KEY,
      purpose text NOT NULL,
      public_jwk jsonb NOT NULL,
      kept_at timestamptz NOT NULL DEFAULT now()
    );
    COMMENT ON TABLE former_signing_keys IS 'Public keys whose secret may be removed; they stay published.';
  `);
};

/** Opens the signing keys of one purpose. */
export const openSigningKeys = ({ secrets, database, purpose, typ, clock }: SigningKeysOptions): SigningKeys => {
  const former = () => database('former_signing_keys').where({ purpose });
  const listFormer = async (): Promise<PublicSigningKey[]> => {
    const rows: { public_jwk: PublicSigningKey }[] = await former().select('public_jwk').orderBy('kept_at', 'desc');
    return rows.map(({ public_jwk }) => public_jwk);
  };
  const keys = openDerivedKeys({ secrets: secrets.all, listFormer, purpose, typ, clock });
  return {
    keys,
    use: {
      keys: secrets,
      columns: [],
      beforeRemoval: async () => {
        const rows = keys.retiring().map((key) => ({ kid: key.kid, purpose, public_jwk: JSON.stringify(key) }));
        if (rows.length > 0) await database('former_signing_keys').insert(rows).onConflict('kid').ignore();
      },
    },
    withdraw: async () => await former().delete(),
  };
};
