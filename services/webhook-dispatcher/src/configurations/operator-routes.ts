import { serviceOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { SecretBox } from '../signatures/index.ts';
import { reencryptSecrets } from './reencrypt-secrets.ts';

/** Routes of the internal port, for operators. */
export const configurationOperatorRoutes = (deps: { database: Knex; secretBox: SecretBox }): Binding[] => [
  bind(serviceOperations.reencryptSigningSecrets, async () => ({
    status: 200,
    body: { reencrypted: await reencryptSecrets(deps.database, deps.secretBox) },
  })),
];
