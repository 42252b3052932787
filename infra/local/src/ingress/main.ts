import { allRoutes, newId, serviceNames, unservedPaths } from '@svc/contracts';
import { makeDrainable } from '@svc/service-kit';
import { type AccessRecord, createIngress, type Upstreams } from './create-ingress.ts';
import { type IngressOwner, ingressTable, sandboxMailRoutes, sandboxPaymentRoutes } from './ingress-table.ts';
import type { ReadinessUrls } from './stopping-services.ts';

const DRAIN_MS = 8_000;

const { env } = process;
const port = Number(env['PORT'] || 8080);
const host = env['HOST'] || '127.0.0.1';
const upstreams: Upstreams = {};
const readinessUrls: ReadinessUrls = {};
const variables = {
  auth: 'AUTH_URL',
  billing: 'BILLING_URL',
  'inference-gateway': 'INFERENCE_GATEWAY_URL',
  'webhook-dispatcher': 'WEBHOOK_DISPATCHER_URL',
  console: 'CONSOLE_URL',
  'sandbox-mail': 'SANDBOX_MAIL_URL',
  'sandbox-payments': 'SANDBOX_PAYMENTS_URL',
} as const satisfies Record<IngressOwner, string>;
for (const service of [...serviceNames, 'console', 'sandbox-mail', 'sandbox-payments'] as const) {
  const url = env[variables[service]];
  if (url) upstreams[service] = url;
  const internalUrl = env[variables[service].replace(/URL$/, 'INTERNAL_URL')];
  if (internalUrl) readinessUrls[service] = `${internalUrl}/readyz`;
}

const log = (level: string, message: string, fields: object = {}): void => {
  process.stdout.write(
    `${JSON.stringify({ level, time: new Date().toISOString(), service: 'ingress', message, ...fields })}\n`,
  );
};

const logAccess = ({ requestId, method, template, status, durationMs }: AccessRecord): void =>
  log('info', 'request answered', { request_id: requestId, method, route: template, status, duration_ms: durationMs });

const server = createIngress({
  table: ingressTable([
    ...allRoutes,
    ...unservedPaths,
    ...(upstreams['sandbox-mail'] === undefined ? [] : sandboxMailRoutes),
    ...(upstreams['sandbox-payments'] === undefined ? [] : sandboxPaymentRoutes),
  ]),
  upstreams,
  readinessUrls,
  scheme: env['PUBLIC_BASE_URL']?.startsWith('https:') ? 'https' : 'http',
  trustProxyHops: Number(env['TRUST_PROXY_HOPS'] || 0),
  newRequestId: () => newId('req'),
  clock: () => performance.now(),
  ...(env['LOG_LEVEL'] === 'silent' ? {} : { onAnswered: logAccess }),
});
const drain = makeDrainable(server);
server.on('error', (error) => {
  log('error', error.message);
  process.exit(1);
});
// Without a host, Node.js accepts IPv6 and IPv4, or IPv4 alone where the system has no IPv6.
server.listen({ port, host: host === '::' ? undefined : host }, () => log('info', 'listening', { port, host }));

const stop = (): void => void drain(DRAIN_MS).then(() => process.exit(0));
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
