import type { Knex } from 'knex';

/** What managing keys works with. */
export interface ApiKeyDeps {
  readonly database: Knex;
  /** Wakes the relay of the outbox. */
  readonly relay: { readonly hint: () => void };
  /** This process's own view knows of a deletion at once. */
  readonly revocations: { readonly remember: (key: string) => void };
  readonly pepper: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}
