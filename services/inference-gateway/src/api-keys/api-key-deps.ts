import type { Digests } from '@svc/secrets';
import type { Knex } from 'knex';
import type { BillingClient } from '../billing-client.ts';
import type { CreatorNames } from './create-creator-names.ts';

export interface ApiKeyDeps {
  readonly database: Knex;
  /** Wakes the outbox relay. */
  readonly relay: { readonly hint: () => void };
  /** Applies a revocation in this process immediately. */
  readonly revocations: {
    readonly remember: (key: string, value?: { readonly revoked_through: string }) => void;
  };
  readonly billing: Pick<BillingClient, 'keySpending'>;
  readonly creatorNames: CreatorNames;
  readonly digests: Digests;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}
