import type { KeyedColumn, SecretKeys, SecretUse } from '@svc/secrets';
import type { Knex } from 'knex';
import { createSecretBox, type SecretBox } from '../signatures.ts';
import { listConfigurations, type VersionedConfiguration } from './configuration.ts';

/** The destination of an owner's events and the secrets that sign them. */
export interface DeliveryTarget {
  readonly ownerId: string;
  readonly generation: number;
  readonly secretVersion: number;
  readonly url: string;
  readonly secret: string;
  /** Secret before the last rotation. */
  readonly previous: { readonly secret: string; readonly expiresAt: Date } | undefined;
}

export interface DeliveryTargets {
  readonly recall: (request: GenerationOfOwner) => DeliveryTarget | undefined;
  /** Returns one entry for each request, in order: undefined if the generation is over or its secret cannot be opened. */
  readonly find: (requests: readonly GenerationOfOwner[]) => Promise<(DeliveryTarget | undefined)[]>;
}

/** Within a generation a cached target stays valid until the secret is rotated. */
export interface GenerationOfOwner {
  readonly ownerId: string;
  readonly generation: number;
  readonly secretVersion: number;
}

const CACHED_MAX = 10_000;

/** Reads targets and caches the newest of them. Calls `onUnreadable` for secrets that no configured key opens. */
export const createDeliveryTargets = (
  database: Knex,
  secretBox: SecretBox,
  onUnreadable: (ownerId: string, error: unknown) => void,
): DeliveryTargets => {
  const cached = new Map<string, DeliveryTarget>();
  const cache = (target: DeliveryTarget) => {
    cached.delete(target.ownerId);
    cached.set(target.ownerId, target);
    const oldest = cached.keys().next();
    if (cached.size > CACHED_MAX && oldest.done !== true) cached.delete(oldest.value);
  };
  const open = (configuration: VersionedConfiguration) => {
    try {
      cache(openTarget(configuration, secretBox));
    } catch (error) {
      onUnreadable(configuration.ownerId, error);
    }
  };
  const recall = ({ ownerId, generation, secretVersion }: GenerationOfOwner) => {
    const target = cached.get(ownerId);
    const isCurrent = target?.generation === generation && target.secretVersion >= secretVersion;
    return isCurrent ? target : undefined;
  };
  return {
    recall,
    async find(requests) {
      const missing = new Set<string>();
      for (const request of requests) if (recall(request) === undefined) missing.add(request.ownerId);
      if (missing.size > 0) {
        for (const configuration of await listConfigurations(database, [...missing])) open(configuration);
      }
      return requests.map(recall);
    },
  };
};

const openTarget = (configuration: VersionedConfiguration, secretBox: SecretBox): DeliveryTarget => {
  const { ownerId, generation, url, sealed, secretVersion, previousSealed, previousExpiresAt } = configuration;
  const owner = { ownerId, generation };
  const hasPrevious = previousSealed !== null && previousExpiresAt !== null;
  return {
    ...owner,
    secretVersion,
    url,
    secret: secretBox.open(sealed, owner),
    previous: hasPrevious ? { secret: secretBox.open(previousSealed, owner), expiresAt: previousExpiresAt } : undefined,
  };
};

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
