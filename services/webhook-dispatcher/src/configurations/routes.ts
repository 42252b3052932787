import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { AuthClient } from '../auth-client.ts';
import { findBlockingEventId } from '../events/index.ts';
import { toWireConfiguration } from './configuration.ts';
import { type ConfigureDeps, configureWebhook } from './configure-webhook.ts';
import { findConfigurationByClientId } from './queries.ts';
import { rotateSecret } from './rotate-secret.ts';

export interface ConfigurationRoutesDeps extends ConfigureDeps {
  readonly auth: AuthClient;
}

/** Overlap of a rotation that names none: a day. */
const OVERLAP_SECONDS = 86_400;

export const configurationRoutes = (deps: ConfigurationRoutesDeps): Binding[] => [
  bind(routes.configureWebhook, async ({ params, body, caller, requestId, signal }) => {
    const clientId = params.client_id;
    await deps.auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
    const { configuration, signingSecret } = await configureWebhook({ clientId, url: body.url }, deps);
    const answer = { ...toWireConfiguration(configuration, undefined), signing_secret: signingSecret };
    return { status: 200, body: answer, headers: { 'cache-control': 'no-store' } };
  }),
  bind(routes.rotateWebhookSecret, async ({ params, body, caller, requestId, signal }) => {
    const clientId = params.client_id;
    await deps.auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
    const overlapSeconds = body?.overlap_seconds ?? OVERLAP_SECONDS;
    const { signingSecret, previousExpiresAt } = await rotateSecret({ clientId, overlapSeconds }, deps);
    return {
      status: 200,
      body: { signing_secret: signingSecret, previous_expires_at: previousExpiresAt.toISOString() },
      headers: { 'cache-control': 'no-store' },
    };
  }),
  bind(routes.getWebhookConfiguration, async ({ params, caller, requestId, signal }) => {
    const clientId = params.client_id;
    await deps.auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
    const configuration = await findConfigurationByClientId(deps.database, clientId);
    if (configuration === undefined) throw new AppError('not_found', 'The app has no webhook configuration.');
    return {
      status: 200,
      body: toWireConfiguration(configuration, await findBlockingEventId(deps.database, clientId)),
    };
  }),
];
