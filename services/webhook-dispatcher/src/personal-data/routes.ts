import { internalRoutes } from '@svc/contracts';
import { streamSections } from '@svc/database';
import { type Binding, bind, sendJsonStream } from '@svc/service-kit';
import type { Knex } from 'knex';
import { SECTIONS } from './sections.ts';

/** Hands over what the service holds about a person. */
export const personalDataRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.exportWebhookData, (context) =>
    sendJsonStream(context, (write) => streamSections(database, SECTIONS, { id: context.params.svc_user_id, write })),
  ),
];
