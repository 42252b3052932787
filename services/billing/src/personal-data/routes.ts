import { internalRoutes } from '@svc/contracts';
import { streamSections } from '@svc/database';
import { type Binding, bind, sendJsonStream } from '@svc/service-kit';
import { SECTIONS } from './sections.ts';

/** Hands over what the service holds about a person. */
export const personalDataRoutes = (database: Parameters<typeof streamSections>[0]): Binding[] => [
  bind(internalRoutes.exportBillingData, (context) =>
    sendJsonStream(context, (write) => streamSections(database, SECTIONS, { id: context.params.svc_user_id, write })),
  ),
];
