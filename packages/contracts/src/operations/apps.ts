import { z } from 'zod';
import { appReportReasons, clientIdParams } from '../auth/apps.ts';
import { clientIdSchema, idSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody, listOf } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

const operation = {
  service: 'auth',
  caller: 'service',
  callers: ['operator'],
  errorShape: 'detail',
  tag: 'Operations',
  method: 'POST',
} as const;

/** An app as an operator sees it. */
export const inspectedAppSchema = z.object({
  client_id: clientIdSchema,
  name: z.string(),
  owner_user_id: idSchema('usr').nullable().describe('Null for an app of a client ID metadata document.'),
  active: z.boolean(),
  suspended_at: timestampSchema.nullable(),
});

export type InspectedApp = z.infer<typeof inspectedAppSchema>;

/** An app that users have reported. */
export const reportedAppSchema = inspectedAppSchema.extend({
  name: z.string().describe('Of a deleted app: its name at the last report.'),
  owner_user_id: idSchema('usr').nullable().describe('Of a deleted app: its owner at the last report.'),
  deleted: z.boolean(),
  open: z.int().min(0).describe('Reports that no operator has closed.'),
  reporters: z.int().min(1).describe('Users who have reported it.'),
  reasons: z.partialRecord(z.enum(appReportReasons), z.int()).describe('Reports by reason.'),
  last_reported_at: timestampSchema,
});

export type ReportedApp = z.infer<typeof reportedAppSchema>;

export const appReportSchema = z.object({
  svc_user_id: idSchema('usr').describe('The user who reported the app.'),
  reason: z.enum(appReportReasons),
  comment: z.string().nullable(),
  reported_at: timestampSchema,
  closed_at: timestampSchema.nullable(),
});

/** Operator routes over apps. All are POST, so that every use is in the audit log. */
export const appOperations = {
  listReportedApps: defineRoute({
    ...operation,
    operationId: 'listReportedApps',
    path: '/internal/operations/auth/app-reports/list',
    summary:
      'List the apps that users have reported, deleted ones included, those with open reports first, at most 100',
    request: {},
    responses: { 200: json('The apps.', listOf(reportedAppSchema)) },
    errors: [],
  }),
  listAppReports: defineRoute({
    ...operation,
    operationId: 'listAppReports',
    path: '/internal/operations/auth/apps/{client_id}/reports',
    summary: 'List the reports about an app, newest first, at most 100',
    request: { params: clientIdParams },
    responses: { 200: json('The reports.', listOf(appReportSchema)) },
    errors: ['not_found'],
  }),
  closeAppReports: defineRoute({
    ...operation,
    operationId: 'closeAppReports',
    path: '/internal/operations/auth/apps/{client_id}/reports/close',
    summary: 'Close the open reports about an app',
    request: { params: clientIdParams },
    responses: { 200: json('Number of closed reports.', z.object({ closed: z.int().min(0) })) },
    errors: [],
  }),
  suspendApp: defineRoute({
    ...operation,
    operationId: 'suspendApp',
    path: '/internal/operations/auth/apps/{client_id}/suspend',
    summary:
      'Deactivate an app until an operator resumes it, end its connections, mail its owner, and close its reports',
    request: { params: clientIdParams },
    responses: { 200: json('The app.', inspectedAppSchema) },
    errors: ['not_found'],
  }),
  resumeApp: defineRoute({
    ...operation,
    operationId: 'resumeApp',
    path: '/internal/operations/auth/apps/{client_id}/resume',
    summary: 'Let the owner of a suspended app activate it again',
    request: { params: clientIdParams },
    responses: { 200: json('The app.', inspectedAppSchema) },
    errors: ['not_found'],
  }),
} as const;

const documentOperation = { ...operation, errors: [] } as const;

/** Host of client ID metadata documents, as in their URLs: in lower case, with the port unless it is 443. */
const hostRequestSchema = z.strictObject({ host: z.string().regex(/^[a-z0-9.[\]:-]{1,261}$/) });

const clientDocumentSchema = z.object({
  client_id: clientIdSchema,
  host: z.string(),
  name: z.string().describe('As the client calls itself.'),
  active: z.boolean(),
  suspended_at: timestampSchema.nullable(),
  fetched_at: timestampSchema,
  expires_at: timestampSchema,
  connections: z.int().min(0).describe('People who are connected.'),
});

/** Operator routes over clients that no business registered. */
export const documentOperations = {
  listClientDocuments: defineRoute({
    ...documentOperation,
    operationId: 'listClientDocuments',
    path: '/internal/operations/auth/client-documents/list',
    summary: 'List the clients of metadata documents, the last fetched first, at most 100',
    request: {},
    responses: { 200: json('The clients.', listOf(clientDocumentSchema)) },
  }),
  blockClientHost: defineRoute({
    ...documentOperation,
    operationId: 'blockClientHost',
    path: '/internal/operations/auth/client-documents/block',
    summary: 'Refuse the metadata documents of a host, suspend its clients and end their connections',
    request: { body: jsonBody(hostRequestSchema) },
    responses: { 200: json('Number of suspended clients.', z.object({ suspended: z.int().min(0) })) },
  }),
  unblockClientHost: defineRoute({
    ...documentOperation,
    operationId: 'unblockClientHost',
    path: '/internal/operations/auth/client-documents/unblock',
    summary: 'Accept the metadata documents of a host again. Connections do not come back',
    request: { body: jsonBody(hostRequestSchema) },
    responses: { 200: json('Number of clients that may ask again.', z.object({ resumed: z.int().min(0) })) },
  }),
} as const;
