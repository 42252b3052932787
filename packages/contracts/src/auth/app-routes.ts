import { z } from 'zod';
import { ICON_BYTES_MAX } from '../core/limits.ts';
import { listOf, pageOf, pageQuery } from '../core/lists.ts';
import { defineRoute, json, jsonBody, optionalJsonBody } from '../core/route.ts';
import { reportAppRequestSchema } from './app-reports.ts';
import {
  appRegisteredSchema,
  appSchema,
  clientIdParams,
  registerAppRequestSchema,
  rotateSecretRequestSchema,
  secretRotatedSchema,
  updateAppRequestSchema,
} from './apps.ts';
import {
  connectionAuditEntrySchema,
  connectionSchema,
  endedConnectionSchema,
  updateConnectionRequestSchema,
} from './connections.ts';

const detail = { service: 'auth', errorShape: 'detail' } as const;
const apps = { ...detail, tag: 'Apps', caller: 'console_session', business: true } as const;
const connections = { ...detail, tag: 'Connections', caller: 'console_session' } as const;

/** Routes of registered apps. */
export const appRoutes = {
  listApps: defineRoute({
    ...apps,
    operationId: 'listApps',
    method: 'GET',
    path: '/v1/integrations/apps',
    summary: 'List apps',
    description: 'Returns the apps that the business account has registered, with the number of their connections.',
    request: {},
    responses: { 200: json('The apps of this account.', listOf(appSchema)) },
    errors: [],
  }),
  registerApp: defineRoute({
    ...apps,
    operationId: 'registerApp',
    method: 'POST',
    path: '/v1/integrations/apps',
    verifiedEmail: true,
    summary: 'Register an app',
    description:
      'The answer has the `client_secret` of a confidential app, once. An account can have at most 1,000 apps.',
    request: { body: jsonBody(registerAppRequestSchema) },
    responses: { 201: json('The app. The secret is shown only once.', appRegisteredSchema) },
    errors: [],
  }),
  updateApp: defineRoute({
    ...apps,
    operationId: 'updateApp',
    method: 'PATCH',
    path: '/v1/integrations/apps/{client_id}',
    summary: 'Activate, deactivate or change an app',
    description:
      'Deactivating ends every connection of the app. Activating does not bring them back: users consent again. While `suspended_at` is set, an operator keeps the app inactive and its owner cannot activate it.',
    request: { params: clientIdParams, body: jsonBody(updateAppRequestSchema) },
    responses: { 200: json('The app.', appSchema) },
    errors: ['app_suspended'],
  }),
  deleteApp: defineRoute({
    ...apps,
    operationId: 'deleteApp',
    method: 'DELETE',
    path: '/v1/integrations/apps/{client_id}',
    summary: 'Delete an app',
    description: 'Ends every connection of the app and removes its webhook configuration and queued events.',
    request: { params: clientIdParams },
    responses: { 204: { description: 'Deleted.' } },
    errors: [],
  }),
  rotateAppSecret: defineRoute({
    ...apps,
    operationId: 'rotateAppSecret',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/rotate-secret',
    summary: 'Rotate the client secret',
    description: 'The answer has the new secret, once. With `overlap_seconds` the old one works that much longer.',
    request: { params: clientIdParams, body: optionalJsonBody(rotateSecretRequestSchema) },
    responses: { 200: json('The new secret, shown only once.', secretRotatedSchema) },
    errors: ['public_client_has_no_secret'],
  }),
  getAppIcon: defineRoute({
    ...connections,
    tag: 'Apps',
    operationId: 'getAppIcon',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/icon',
    summary: 'Get the icon of an app',
    description: 'Available to every signed-in user, for the consent page and the list of connections.',
    request: { params: clientIdParams },
    responses: {
      200: {
        description: 'The stored image, or a generated SVG monogram.',
        contentType: 'image/*',
        schema: z.string(),
      },
    },
    errors: [],
  }),
  putAppIcon: defineRoute({
    ...apps,
    operationId: 'putAppIcon',
    method: 'PUT',
    path: '/v1/integrations/apps/{client_id}/icon',
    summary: 'Store an icon (PNG, JPEG or WebP, at most 256 KiB)',
    description: 'The image type is detected from the bytes; `content-type` is ignored.',
    request: {
      params: clientIdParams,
      body: { contentType: '*/*', schema: z.string(), required: true, bytesMax: ICON_BYTES_MAX, raw: true },
    },
    responses: { 204: { description: 'Stored.' } },
    errors: [],
  }),
} as const;

/** Routes on which users tell operators about apps. */
export const appReportRoutes = {
  reportApp: defineRoute({
    ...connections,
    tag: 'Apps',
    operationId: 'reportApp',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/reports',
    summary: 'Report an app to the operators',
    description: 'Counts once a day for each user and app: later reports of a day change nothing.',
    request: { params: clientIdParams, body: jsonBody(reportAppRequestSchema) },
    responses: { 202: { description: 'Received.' } },
    errors: ['not_found'],
  }),
} as const;

/** Routes of a user's connections. */
export const connectionRoutes = {
  listConnections: defineRoute({
    ...connections,
    operationId: 'listConnections',
    method: 'GET',
    path: '/v1/integrations/connections',
    summary: 'List connected apps',
    description: 'Returns the apps that the user has connected, with their budgets.',
    request: {},
    responses: { 200: json("The user's connections.", listOf(connectionSchema)) },
    errors: [],
  }),
  listEndedConnections: defineRoute({
    ...connections,
    operationId: 'listEndedConnections',
    method: 'GET',
    path: '/v1/integrations/ended-connections',
    summary: 'List apps that are no longer connected',
    description: 'The last 100, newest end first. Deleted apps are left out.',
    request: {},
    responses: { 200: json("The user's ended connections.", listOf(endedConnectionSchema)) },
    errors: [],
  }),
  updateConnection: defineRoute({
    ...connections,
    operationId: 'updateConnection',
    method: 'PATCH',
    path: '/v1/integrations/connections/{client_id}',
    summary: "Set or remove an app's budget, and pause or resume the app",
    description: 'Takes effect with the next request of the app. Changing the limit does not reset the use.',
    request: { params: clientIdParams, body: jsonBody(updateConnectionRequestSchema) },
    responses: { 200: json('The connection.', connectionSchema) },
    errors: ['not_found'],
  }),
  deleteConnection: defineRoute({
    ...connections,
    operationId: 'deleteConnection',
    method: 'DELETE',
    path: '/v1/integrations/connections/{client_id}',
    summary: 'Disconnect an app',
    description: 'Revokes every token that the app holds for this user. The app gets an `integration.revoked` event.',
    request: { params: clientIdParams },
    responses: { 204: { description: 'Disconnected.' } },
    errors: [],
  }),
  listConnectionAudit: defineRoute({
    ...connections,
    operationId: 'listConnectionAudit',
    method: 'GET',
    path: '/v1/integrations/connections/{client_id}/audit',
    summary: 'List the audit trail of a connection',
    description: 'Newest first, for up to 400 days, including connections that have ended.',
    request: { params: clientIdParams, query: z.object(pageQuery) },
    responses: { 200: json('A page of the audit trail.', pageOf(connectionAuditEntrySchema)) },
    errors: [],
  }),
} as const;
