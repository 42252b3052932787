import { type rotateWebhookSecretRequestSchema, routes } from '@svc/contracts';
import { type Act, AppError, type Binding, bind } from '@svc/service-kit';
import type { z } from 'zod';
import { recordWebhookAct } from '../audit-log.ts';
import type { AuthClient } from '../auth-client.ts';
import { findLaneBlock, turnLaneOff } from '../events/index.ts';
import {
  type Configuration,
  deleteConfiguration,
  findConfigurationByOwnerId,
  toWireAccountWebhook,
  toWireConfiguration,
  type WebhookOwner,
} from './configuration.ts';
import { type ConfigureDeps, configureWebhook, rotateSecret } from './configure-webhook.ts';

export interface ConfigurationRoutesDeps extends ConfigureDeps {
  readonly auth: AuthClient;
}

/** Overlap of a rotation that names none: a day. */
const OVERLAP_SECONDS = 86_400;
/** Of answers with a secret. */
const HEADERS = { 'cache-control': 'no-store' };

/** Binds the routes of an app's webhook, whose owner auth knows, and of an account's own. */
export const configurationRoutes = (deps: ConfigurationRoutesDeps): Binding[] => {
  const { auth, database } = deps;
  return [
    bind(routes.configureWebhook, async (context) => {
      const { configuration, signingSecret } = await configureWebhook(
        { ...(await auth.ownerOf(context)), ...context.body },
        context.act,
        deps,
      );
      const answer = { ...toWireConfiguration(configuration, undefined), signing_secret: signingSecret };
      return { status: 200, body: answer, headers: HEADERS };
    }),
    bind(routes.configureAccountWebhook, async ({ act, body, caller }) => {
      const { configuration, signingSecret } = await configureWebhook({ ...ownOf(caller.userId), ...body }, act, deps);
      const answer = { ...toWireAccountWebhook(configuration, undefined), signing_secret: signingSecret };
      return { status: 200, body: answer, headers: HEADERS };
    }),
    bind(routes.rotateWebhookSecret, async (context) =>
      rotate(deps, { ...(await auth.ownerOf(context)), act: context.act }, context.body),
    ),
    bind(routes.rotateAccountWebhookSecret, async ({ act, body, caller }) =>
      rotate(deps, { ownerId: caller.userId, act }, body),
    ),
    bind(routes.getWebhookConfiguration, async (context) => {
      const [configuration, block] = await readConfiguration(deps, await auth.ownerOf(context));
      return { status: 200, body: toWireConfiguration(configuration, block) };
    }),
    bind(routes.getAccountWebhook, async ({ caller }) => {
      const [configuration, block] = await readConfiguration(deps, ownOf(caller.userId));
      return { status: 200, body: toWireAccountWebhook(configuration, block) };
    }),
    bind(routes.deleteAccountWebhook, async ({ act, caller: { userId } }) => {
      await database.transaction(async (trx) => {
        await turnLaneOff(trx, userId);
        if (await deleteConfiguration(trx, userId)) await recordWebhookAct(trx, act, userId);
        else act.changedNothing();
      });
      return { status: 204 };
    }),
  ];
};

const ownOf = (userId: string): WebhookOwner => ({ ownerId: userId, accountId: userId });

const rotate = async (
  deps: ConfigurationRoutesDeps,
  { ownerId, act }: Pick<WebhookOwner, 'ownerId'> & { readonly act: Act },
  body: z.output<typeof rotateWebhookSecretRequestSchema> | undefined,
) => {
  const overlapSeconds = body?.overlap_seconds ?? OVERLAP_SECONDS;
  const { signingSecret, previousExpiresAt } = await rotateSecret({ ownerId, overlapSeconds, act }, deps);
  const answer = { signing_secret: signingSecret, previous_expires_at: previousExpiresAt.toISOString() };
  return { status: 200 as const, body: answer, headers: HEADERS };
};

/** Returns a configuration with the event that blocks it. Throws `not_found` without one. */
const readConfiguration = async ({ database }: ConfigurationRoutesDeps, { ownerId }: WebhookOwner) => {
  const configuration: Configuration | undefined = await findConfigurationByOwnerId(database, ownerId);
  if (configuration === undefined) throw new AppError('not_found', 'There is no webhook configuration.');
  return [configuration, await findLaneBlock(database, ownerId)] as const;
};
