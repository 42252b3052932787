import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { changeAlertSettings } from './change-alert-settings.ts';
import { findAlertSettings } from './queries.ts';

/** Binds the routes of alert settings. */
export const alertRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(routes.getAlertSettings, async ({ caller }) => ({
    status: 200,
    body: await findAlertSettings(database, caller.userId),
  })),
  bind(routes.changeAlertSettings, async ({ caller, act, body }) => ({
    status: 200,
    body: await changeAlertSettings(database, { userId: caller.userId, act }, body),
  })),
];
