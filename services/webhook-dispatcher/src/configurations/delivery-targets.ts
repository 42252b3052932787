import type { Knex } from 'knex';
import type { SecretBox } from '../signatures/index.ts';
import type { Configuration } from './configuration.ts';
import { listConfigurations } from './queries.ts';

/** The destination of an app's events and the secret that signs them. */
export interface DeliveryTarget {
  readonly clientId: string;
  readonly generation: number;
  readonly url: string;
  readonly secret: string;
}

export interface DeliveryTargets {
  recall(request: GenerationOfApp): DeliveryTarget | undefined;
  /** Returns one entry for each request, in order: undefined if the generation is over or its secret cannot be opened. */
  find(requests: readonly GenerationOfApp[]): Promise<(DeliveryTarget | undefined)[]>;
}

/** A generation is written once, so a cached target stays valid. */
export interface GenerationOfApp {
  readonly clientId: string;
  readonly generation: number;
}

const CACHED_MAX = 10_000;

/** Reads targets and caches the newest of them. Calls `onUnreadable` for secrets that no configured key opens. */
export const createDeliveryTargets = (
  database: Knex,
  secretBox: SecretBox,
  onUnreadable: (clientId: string, error: unknown) => void,
): DeliveryTargets => {
  const cached = new Map<string, DeliveryTarget>();
  const cache = (target: DeliveryTarget) => {
    cached.delete(target.clientId);
    cached.set(target.clientId, target);
    const oldest = cached.keys().next();
    if (cached.size > CACHED_MAX && oldest.done !== true) cached.delete(oldest.value);
  };
  const open = ({ clientId, generation, url, keyId, sealed }: Configuration) => {
    try {
      const secret = secretBox.open({ keyId, sealed }, { clientId, generation });
      cache({ clientId, generation, url, secret });
    } catch (error) {
      onUnreadable(clientId, error);
    }
  };
  const recall = ({ clientId, generation }: GenerationOfApp) => {
    const target = cached.get(clientId);
    return target?.generation === generation ? target : undefined;
  };
  return {
    recall,
    async find(requests) {
      const missing = new Set<string>();
      for (const request of requests) if (recall(request) === undefined) missing.add(request.clientId);
      if (missing.size > 0) {
        for (const configuration of await listConfigurations(database, [...missing])) open(configuration);
      }
      return requests.map(recall);
    },
  };
};
