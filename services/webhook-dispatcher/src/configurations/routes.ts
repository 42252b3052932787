import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { AuthClient } from '../auth-client.ts';
import { findBlockingEventId } from '../events/index.ts';
import { toWireConfiguration } from './configuration.ts';
import { type ConfigureDeps, configureWebhook } from './configure-webhook.ts';
import { findConfigurationByClientId } from './queries.ts';

export interface ConfigurationRoutesDeps extends ConfigureDeps {
  readonly auth: AuthClient;
}

export const configurationRoutes = (deps: ConfigurationRoutesDeps): Binding[] => [
  bind(routes.configureWebhook, async ({ params, body, caller, requestId, signal }) => {
    const clientId = params.client_id;
    await deps.auth.requireOwner({ clientId, userId: caller.userId, requestId, signal });
    const { configuration, signingSecret } = await configureWebhook({ clientId, url: body.url }, deps);
    const answer = { ...toWireConfiguration(configuration, undefined), signing_secret: signingSecret };
    return { status: 200, body: answer, headers: { 'cache-control': 'no-store' } };
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
