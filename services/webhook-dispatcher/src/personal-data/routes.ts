import { internalRoutes } from '@svc/contracts';
import { streamSections } from '@svc/database';
import { type Binding, bind, sendJsonStream } from '@svc/service-kit';
import { sectionsWith } from './sections.ts';

/** Hands over what the service holds about a person. */
export const personalDataRoutes = (
  database: Parameters<typeof streamSections>[0],
  limits: { readonly retentionDays: number },
): Binding[] => {
  const sections = sectionsWith(limits);
  return [
    bind(internalRoutes.exportWebhookData, (context) =>
      sendJsonStream(context, (write) => streamSections(database, sections, { id: context.params.svc_user_id, write })),
    ),
  ];
};
