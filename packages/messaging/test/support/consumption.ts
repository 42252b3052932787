import { type Consumer, type ConsumerOptions, type Messaging, type Relay, startConsumer } from '../../src/index.ts';
import { recordEffect } from './effects.ts';
import type { Stage } from './stage.ts';

export const SUBJECTS = ['auth.app.registered.v1', 'auth.app.updated.v1'] as const;
export type AppConsumerOptions = Partial<ConsumerOptions<(typeof SUBJECTS)[number]>>;

/** A connection with a relay, and consumers of facts about apps. */
export interface Consumption {
  readonly messaging: Messaging;
  readonly relay: Relay;
  /** Starts a consumer that records effects, unless the options say otherwise. */
  readonly consume: (name: string, options?: AppConsumerOptions) => Consumer;
}

export const beginConsumption = async (stage: Stage): Promise<Consumption> => {
  const messaging = await stage.connect();
  return {
    messaging,
    relay: stage.relay(messaging),
    consume: (name, options = {}) =>
      stage.keep(
        startConsumer({
          messaging,
          database: stage.knex,
          name,
          subjects: SUBJECTS,
          handle: (trx, event) => recordEffect(trx, event),
          ...options,
        }),
      ),
  };
};

/** An error of a kind, with a text that must not be stored. */
export const failure = (kind: string, code = `test.${kind}`) => Object.assign(new Error('secret text'), { kind, code });
