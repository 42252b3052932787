import { pruneActs } from '@svc/database';
import type { Consumer, Messaging } from '@svc/messaging';
import type { SecretKeys } from '@svc/secrets';
import {
  type ApiKeyCaller,
  type Authenticate,
  type InternalClient,
  type Lifecycle,
  type Logger,
  type PeriodicWork,
  runPeriodically,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { type ApiKeyDeps, createCreatorNames } from './api-key-deps.ts';
import {
  batchKeyFinds,
  createKeyAuthenticator,
  createKeyDigests,
  createLastUseTracker,
  type KeyAuthenticatorOptions,
} from './authenticate-keys.ts';
import { startAccessConsumer, startErasureConsumer, startMembershipConsumer } from './consumer.ts';

interface ApiKeysOptions extends Omit<ApiKeyDeps, 'creatorNames' | 'digests'> {
  readonly messaging: Messaging;
  readonly auth: InternalClient;
  readonly revocations: ApiKeyDeps['revocations'] & KeyAuthenticatorOptions['revocations'];
  readonly pepper: SecretKeys;
  readonly logger: Logger;
}

interface ApiKeys {
  readonly deps: ApiKeyDeps;
  readonly authenticate: Authenticate<ApiKeyCaller>;
  readonly consumers: readonly Consumer[];
}

/** Opens the management and the authentication of API keys, with their consumers and periodic work. */
export const openApiKeys = (life: Lifecycle, options: ApiKeysOptions): ApiKeys => {
  const { database, relay, revocations, auth, billing, pepper, clock, logger } = options;
  const consumers = [startAccessConsumer(options), startErasureConsumer(options), startMembershipConsumer(options)];
  life.onStop('consumers', async () => void (await Promise.all(consumers.map((consumer) => consumer.stop()))));
  const digests = createKeyDigests(pepper);
  const lastUses = createLastUseTracker({ database, clock, logger });
  life.onStop('last uses of keys', lastUses.stop);
  life.onStop('audit log', startActPruning({ database, logger }).stop);
  return {
    deps: { database, relay, revocations, billing, creatorNames: createCreatorNames({ auth, clock }), digests, clock },
    authenticate: createKeyAuthenticator({
      find: batchKeyFinds(database),
      digests,
      revocations,
      onUse: lastUses.note,
      clock,
    }),
    consumers,
  };
};

const PRUNING_INTERVAL_MS = 3_600_000;
const PRUNED_ACTS_MAX = 1_000;

/** Deletes acts that were kept for their time: now and every hour. Replicas may do so at the same time. */
export const startActPruning = ({ database, logger }: { database: Knex; logger: Logger }): PeriodicWork =>
  runPeriodically({
    name: 'audit log pruning',
    intervalMs: PRUNING_INTERVAL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await pruneActs(database, PRUNED_ACTS_MAX)) === PRUNED_ACTS_MAX);
    },
    logger,
  });
