import { internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { mailWebhookNotice, type WebhookNoticeDeps } from './mail-webhook-notice.ts';

/** Binds the internal routes of notices. */
export const noticeInternalRoutes = (deps: WebhookNoticeDeps): Binding[] => [
  bind(internalRoutes.mailWebhookNotice, async ({ params, body }) => {
    await mailWebhookNotice(deps, params.owner_id, body);
    return { status: 204 };
  }),
];
