import { PROVENANCE_TYPE } from '@svc/contracts';
import { openSecretKeys, openSigningKeys, requireSecretKeys } from '@svc/secrets';
import type { Knex } from 'knex';
import { keyDigestUse } from './api-keys/index.ts';
import type { Config } from './config.ts';

/** Opens the keys of stored values and of proofs. Throws MissingSecretKey if a stored value needs another key. */
export const openSecrets = async (
  database: Knex,
  { config, clock }: { readonly config: Config; readonly clock: () => number },
) => {
  const pepper = openSecretKeys('API_KEY_PEPPER', config.API_KEY_PEPPER);
  const proofs = openSigningKeys({
    secrets: openSecretKeys('PROVENANCE_KEY_SECRET', config.PROVENANCE_KEY_SECRET),
    database,
    purpose: 'provenance',
    typ: PROVENANCE_TYPE,
    clock,
  });
  const secrets = [keyDigestUse(pepper), proofs.use];
  await requireSecretKeys(database, secrets);
  return { pepper, proofs, secrets };
};
