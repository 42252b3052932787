import type { Knex } from 'knex';
import type { SecretBox } from '../signatures/index.ts';
import type { Configuration } from './configuration.ts';
import { listConfigurations } from './queries.ts';

/** Where an app's events go, and with which secret they are signed. */
export interface DeliveryTarget {
  readonly clientId: string;
  readonly generation: number;
  readonly url: string;
  readonly secret: string;
}

/** Finds the targets of apps, each in one given generation. */
export interface DeliveryTargets {
  /** The target, where it is remembered. */
  recall(request: GenerationOfApp): DeliveryTarget | undefined;
  /** One entry per request, in order; undefined where that generation is over, or its secret cannot be opened. */
  find(requests: readonly GenerationOfApp[]): Promise<(DeliveryTarget | undefined)[]>;
}

/** A generation is written once, so what was read of it stays true. */
export interface GenerationOfApp {
  readonly clientId: string;
  readonly generation: number;
}

const REMEMBERED_MAX = 10_000;

/** Reads targets, and remembers the newest of them. `onUnreadable` is told of secrets that no configured key opens. */
export const createDeliveryTargets = (
  database: Knex,
  secretBox: SecretBox,
  onUnreadable: (clientId: string, error: unknown) => void,
): DeliveryTargets => {
  const remembered = new Map<string, DeliveryTarget>();
  const remember = (target: DeliveryTarget) => {
    remembered.delete(target.clientId);
    remembered.set(target.clientId, target);
    const oldest = remembered.keys().next();
    if (remembered.size > REMEMBERED_MAX && oldest.done !== true) remembered.delete(oldest.value);
  };
  const open = (configuration: Configuration) => {
    const { clientId, generation, url, secret } = configuration;
    try {
      remember({ clientId, generation, url, secret: secretBox.open(secret, { clientId, generation }) });
    } catch (error) {
      onUnreadable(clientId, error);
    }
  };
  const recall = ({ clientId, generation }: GenerationOfApp) => {
    const target = remembered.get(clientId);
    return target?.generation === generation ? target : undefined;
  };
  return {
    recall,
    async find(requests) {
      const missing = requests.filter((request) => recall(request) === undefined);
      if (missing.length > 0) {
        const configurations = await listConfigurations(database, [
          ...new Set(missing.map(({ clientId }) => clientId)),
        ]);
        for (const configuration of configurations) open(configuration);
      }
      return requests.map(recall);
    },
  };
};
