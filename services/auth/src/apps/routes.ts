import { ICON_BYTES_MAX, routes } from '@svc/contracts';
import { camelKeys } from '@svc/database';
import { AppError, type Binding, bind, readBodyBytes } from '@svc/service-kit';
import { countStandingConnections } from '../connections/index.ts';
import type { Executor } from '../transact.ts';
import { type AppRecord, findAppById, listAppsByOwner, toAppJson } from './app-record.ts';
import { rotateSecret } from './client-secrets.ts';
import { deleteApp } from './delete-apps.ts';
import { getIcon, putIcon } from './icons.ts';
import { registerApp } from './register-app.ts';
import { type UpdateAppDeps, updateApp } from './update-app.ts';

export interface AppRoutesDeps extends UpdateAppDeps {
  readonly database: Executor;
  readonly publicBaseUrl: string;
}

/** Binds the routes of app management. */
export const appRoutes = (deps: AppRoutesDeps): Binding[] => [...recordRoutes(deps), ...secretAndIconRoutes(deps)];

const recordRoutes = (deps: AppRoutesDeps): Binding[] => [
  bind(routes.listApps, async ({ caller }) => {
    const apps = await listAppsByOwner(deps.database, caller.userId);
    return { status: 200, body: { data: await toJson(deps, apps) } };
  }),
  bind(routes.getApp, async ({ params, caller }) => {
    const app = await findAppById(deps.database, params.client_id);
    if (app?.ownerUserId !== caller.userId) throw new AppError('not_found');
    const [record] = await toJson(deps, [app]);
    return { status: 200, body: record };
  }),
  bind(routes.registerApp, async ({ body, caller, act }) => {
    const { client_type: clientType, ...fields } = body;
    const registration = { ownerUserId: caller.userId, clientType, fields: camelKeys(fields) };
    const { app, clientSecret } = await registerApp(deps, registration, act);
    const record = toAppJson(app, { publicBaseUrl: deps.publicBaseUrl, connectionsCount: 0 });
    return { status: 201, body: clientSecret === undefined ? record : { ...record, client_secret: clientSecret } };
  }),
  bind(routes.updateApp, async ({ params, body, caller, act }) => {
    const key = { clientId: params.client_id, ownerUserId: caller.userId };
    const { active, ...fields } = body;
    const app = await updateApp(deps, key, { active, fields: camelKeys(fields), act });
    const [record] = await toJson(deps, [app]);
    return { status: 200, body: record };
  }),
  bind(routes.deleteApp, async ({ params, caller, act }) => {
    await deleteApp(deps, { clientId: params.client_id, ownerUserId: caller.userId }, act);
    return { status: 204 };
  }),
];

const ICON_SECONDS = 300;

const secretAndIconRoutes = (deps: AppRoutesDeps): Binding[] => [
  bind(routes.rotateAppSecret, async ({ params, body, caller, act }) => {
    const key = { clientId: params.client_id, ownerUserId: caller.userId };
    const rotated = await rotateSecret(deps, key, { overlapSeconds: body?.overlap_seconds ?? 0, act });
    return {
      status: 200,
      body: {
        client_id: rotated.clientId,
        client_secret: rotated.clientSecret,
        secret_rotated_at: rotated.secretRotatedAt.toISOString(),
        previous_secret_expires_at: rotated.previousSecretExpiresAt?.toISOString() ?? null,
      },
    };
  }),
  bind(routes.getAppIcon, async ({ params }) => {
    const icon = await getIcon(deps, params.client_id);
    return {
      status: 200,
      body: icon.bytes,
      contentType: icon.contentType,
      headers: { 'cache-control': `private, max-age=${ICON_SECONDS}` },
    };
  }),
  bind(routes.putAppIcon, async ({ params, req, caller, act }) => {
    const bytes = await readBodyBytes(req, ICON_BYTES_MAX);
    await putIcon(deps, { clientId: params.client_id, ownerUserId: caller.userId }, { bytes, act });
    return { status: 204 };
  }),
];

const toJson = async (deps: AppRoutesDeps, apps: readonly AppRecord[]) => {
  const counts = await countStandingConnections(
    deps.database,
    apps.map(({ clientId }) => clientId),
  );
  return apps.map((app) =>
    toAppJson(app, { publicBaseUrl: deps.publicBaseUrl, connectionsCount: counts.get(app.clientId) ?? 0 }),
  );
};
