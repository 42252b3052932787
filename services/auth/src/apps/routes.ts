import { ICON_BYTES_MAX, routes } from '@svc/contracts';
import { type Binding, bind, readBodyBytes } from '@svc/service-kit';
import { countStandingConnections } from '../connections/index.ts';
import type { Executor } from '../transact.ts';
import { type AppFields, type AppRecord, toAppJson } from './app.ts';
import { deleteApp } from './delete-app.ts';
import { getIcon, putIcon } from './icons.ts';
import { listAppsByOwner } from './queries.ts';
import { registerApp } from './register-app.ts';
import { rotateSecret } from './rotate-secret.ts';
import { type UpdateAppDeps, updateApp } from './update-app.ts';

/** What the app endpoints need. */
export interface AppRoutesDeps extends UpdateAppDeps {
  database: Executor;
  publicBaseUrl: string;
}

/** Serves the management of apps. */
export const appRoutes = (deps: AppRoutesDeps): Binding[] => [...recordRoutes(deps), ...secretAndIconRoutes(deps)];

const recordRoutes = (deps: AppRoutesDeps): Binding[] => [
  bind(routes.listApps, async ({ caller }) => {
    const apps = await listAppsByOwner(deps.database, caller.userId);
    return { status: 200, body: { data: await toJson(deps, apps) } };
  }),
  bind(routes.registerApp, async ({ body, caller }) => {
    const { app, clientSecret } = await registerApp(deps, {
      ownerUserId: caller.userId,
      clientType: body.client_type,
      name: body.name,
      description: body.description ?? null,
      redirectUris: body.redirect_uris,
      homepageUrl: body.homepage_url ?? null,
      privacyPolicyUrl: body.privacy_policy_url ?? null,
      refreshGraceSeconds: body.refresh_grace_seconds,
      requiresPushedRequests: body.require_pushed_authorization_requests,
      requiresBoundTokens: body.dpop_bound_access_tokens,
    });
    const record = toAppJson(app, { publicBaseUrl: deps.publicBaseUrl, connectionsCount: 0 });
    return { status: 201, body: clientSecret === undefined ? record : { ...record, client_secret: clientSecret } };
  }),
  bind(routes.updateApp, async ({ params, body, caller }) => {
    const key = { clientId: params.client_id, ownerUserId: caller.userId };
    const app = await updateApp(deps, key, { active: body.active, fields: toFields(body) });
    const [record] = await toJson(deps, [app]);
    return { status: 200, body: record };
  }),
  bind(routes.deleteApp, async ({ params, caller }) => {
    await deleteApp(deps, { clientId: params.client_id, ownerUserId: caller.userId });
    return { status: 204 };
  }),
];

const ICON_SECONDS = 300;

const secretAndIconRoutes = (deps: AppRoutesDeps): Binding[] => [
  bind(routes.rotateAppSecret, async ({ params, body, caller }) => {
    const key = { clientId: params.client_id, ownerUserId: caller.userId };
    const rotated = await rotateSecret(deps, key, body?.overlap_seconds ?? 0);
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
  bind(routes.putAppIcon, async ({ params, req, caller }) => {
    const bytes = await readBodyBytes(req, ICON_BYTES_MAX);
    await putIcon(deps, { clientId: params.client_id, ownerUserId: caller.userId }, bytes);
    return { status: 204 };
  }),
];

interface ChangeBody {
  name?: string | undefined;
  description?: string | null | undefined;
  redirect_uris?: readonly string[] | undefined;
  homepage_url?: string | null | undefined;
  privacy_policy_url?: string | null | undefined;
  refresh_grace_seconds?: number | undefined;
  require_pushed_authorization_requests?: boolean | undefined;
  dpop_bound_access_tokens?: boolean | undefined;
}

const toFields = (body: ChangeBody): Partial<AppFields> => ({
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.description === undefined ? {} : { description: body.description }),
  ...(body.redirect_uris === undefined ? {} : { redirectUris: body.redirect_uris }),
  ...(body.homepage_url === undefined ? {} : { homepageUrl: body.homepage_url }),
  ...(body.privacy_policy_url === undefined ? {} : { privacyPolicyUrl: body.privacy_policy_url }),
  ...(body.refresh_grace_seconds === undefined ? {} : { refreshGraceSeconds: body.refresh_grace_seconds }),
  ...(body.require_pushed_authorization_requests === undefined
    ? {}
    : { requiresPushedRequests: body.require_pushed_authorization_requests }),
  ...(body.dpop_bound_access_tokens === undefined ? {} : { requiresBoundTokens: body.dpop_bound_access_tokens }),
});

const toJson = async (deps: AppRoutesDeps, apps: readonly AppRecord[]) => {
  const counts = await countStandingConnections(
    deps.database,
    apps.map(({ clientId }) => clientId),
  );
  return apps.map((app) =>
    toAppJson(app, { publicBaseUrl: deps.publicBaseUrl, connectionsCount: counts.get(app.clientId) ?? 0 }),
  );
};
