import type { Messaging } from '@svc/messaging';
import type { Knex } from 'knex';
import type { StoreDeps } from '../events/index.ts';

export interface FactDeps extends StoreDeps {
  readonly database: Knex;
  readonly messaging: Messaging;
}
