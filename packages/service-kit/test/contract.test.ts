import { routesOf, serviceNames } from '@svc/contracts';
import { expect, test } from 'vitest';
import { createMetrics, createServiceApp } from '../src/index.ts';
import { collectLogs, serve } from './support/test-app.ts';

test.each(serviceNames)('returns 501 with the operation id for every unbound route of %s', async (service) => {
  const { logger } = collectLogs();
  const app = createServiceApp({ service, bindings: [], authenticate: {}, logger, metrics: createMetrics(service) });
  const { url } = await serve(app);
  for (const route of routesOf(service)) {
    const response = await fetch(`${url}${route.path.replaceAll(/[{}]/g, '')}`, { method: route.method });
    expect([route.operationId, response.status]).toEqual([route.operationId, 501]);
    expect(await response.text()).toContain(route.operationId);
  }
});
